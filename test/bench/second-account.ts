import { API_VERSION } from '@tintype/crds/identifiers/names'
import { kubectl } from '../support/cluster/environment.ts'
import { createApiKey } from '../support/cluster/keys.ts'
import { undoing } from './report/undo.ts'

/** Runs `act` with the key of a temporary account. */
export const withSecondAccount = <T>(act: (key: string) => Promise<T>): Promise<T> => withAccounts(1, ([key = '']) => act(key))

/** Runs `act` with the keys of several temporary accounts. */
export async function withAccounts<T>(count: number, act: (keys: string[]) => Promise<T>): Promise<T> {
  const names = Array.from({ length: count }, (_, index) => `bench-${process.pid}-${index + 1}`)
  const remove = () => kubectl(['delete', '--ignore-not-found', ...names.flatMap((name) => [`account/${name}`, `apikey/${name}`])])
  return undoing(remove, async () => {
    const keys: string[] = []
    for (const name of names) keys.push(await createAccount(name))
    return act(keys)
  })
}

async function createAccount(name: string): Promise<string> {
  const account = { apiVersion: API_VERSION, kind: 'Account', metadata: { name }, spec: { plan: 'scale', displayName: 'Benchmark' } }
  const { code, stderr } = await kubectl(['apply', '-f', '-'], JSON.stringify(account))
  if (code !== 0) throw new Error(`account ${name} cannot be made: ${stderr}`)
  return createApiKey(name, name)
}
