import { API_VERSION } from '@tintype/crds/names'
import { kubectl } from '../support/cluster-environment.ts'
import { createApiKey } from '../support/cluster-keys.ts'
import { undoing } from './undo.ts'

const NAME = `bench-${process.pid}`

/** Runs `act` with the key of an account of its own, and removes both afterwards. */
export async function withSecondAccount<T>(act: (key: string) => Promise<T>): Promise<T> {
  const account = { apiVersion: API_VERSION, kind: 'Account', metadata: { name: NAME }, spec: { plan: 'scale', displayName: 'Benchmark' } }
  const remove = () => kubectl(['delete', `account/${NAME}`, `apikey/${NAME}`, '--ignore-not-found'])
  return undoing(remove, async () => {
    const { code, stderr } = await kubectl(['apply', '-f', '-'], JSON.stringify(account))
    if (code !== 0) throw new Error(`the second account cannot be made: ${stderr}`)
    return act(await createApiKey(NAME, NAME))
  })
}
