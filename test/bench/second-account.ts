import { keyHash, newKeyText } from '@tintype/crds/key-text'
import { API_VERSION, Label } from '@tintype/crds/names'
import { kubectl } from '../support/cluster-environment.ts'
import { undoing } from './undo.ts'

const NAME = `bench-${process.pid}`

/** Runs `act` with the key of an account of its own, and removes both afterwards. */
export async function withSecondAccount<T>(act: (key: string) => Promise<T>): Promise<T> {
  const text = newKeyText()
  const objects = [
    { apiVersion: API_VERSION, kind: 'Account', metadata: { name: NAME }, spec: { plan: 'scale', displayName: 'Benchmark' } },
    {
      apiVersion: API_VERSION,
      kind: 'ApiKey',
      metadata: { name: NAME, labels: { [Label.keyHash1]: keyHash(text) } },
      spec: { accountName: NAME, name: NAME, lastFour: text.slice(-4) },
    },
  ]
  const remove = () => kubectl(['delete', `account/${NAME}`, `apikey/${NAME}`, '--ignore-not-found'])
  return undoing(remove, async () => {
    const { code, stderr } = await kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
    if (code !== 0) throw new Error(`the second account cannot be made: ${stderr}`)
    return act(text)
  })
}
