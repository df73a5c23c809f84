import type { Test } from 'tap'
import type { AccountSpec } from '../../crds/src/kinds/account.ts'
import { API_VERSION } from '../../crds/src/names.ts'
import { call } from './api-client.ts'
import { kubectl, kubectlJson } from './cluster-environment.ts'
import { run } from './cluster-pools.ts'
import { eventually } from './eventually.ts'

/** A customer of a test's own. */
export interface ClusterAccount {
  name: string
  /** Text of its key. */
  key: string
}

const secretOf = async (name: string): Promise<string> => {
  const { data } = await kubectlJson<{ data: Record<string, string> }>(['get', 'secret', name])
  return Buffer.from(data['api-key'] ?? '', 'base64').toString()
}

/** Lets keys in as the documentation says: an ApiKey that names a Secret, which the operator writes. */
export async function createClusterKey(t: Test, name: string, accountName: string): Promise<string> {
  const object = { apiVersion: API_VERSION, kind: 'ApiKey', metadata: { name }, spec: { accountName, secretName: name } }
  t.teardown(() => kubectl(['delete', `apikey/${name}`, '--ignore-not-found', '--wait=false']))
  const { code, stderr } = await kubectl(['apply', '-f', '-'], JSON.stringify(object))
  if (code !== 0) throw new Error(`the key of ${accountName} cannot be made: ${stderr}`)
  const key = await eventually(`the operator has written ${name}`, async () => (await secretOf(name)) || undefined)
  await eventually(`the key of ${accountName} is let in`, async () => (await call('/api/v1/usage/current', { key })).status === 200)
  return key
}

/** Makes a customer with `kubectl apply` and waits until its key works; both go with the test. */
export async function createClusterAccount(t: Test, purpose: string, spec: AccountSpec): Promise<ClusterAccount> {
  const name = `${purpose}-${run}`
  t.teardown(() => kubectl(['delete', `account/${name}`, '--ignore-not-found', '--wait=false']))
  const object = { apiVersion: API_VERSION, kind: 'Account', metadata: { name }, spec }
  const { code, stderr } = await kubectl(['apply', '-f', '-'], JSON.stringify(object))
  if (code !== 0) throw new Error(`account ${name} cannot be made: ${stderr}`)
  return { name, key: await createClusterKey(t, name, name) }
}
