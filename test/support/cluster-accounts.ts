import type { Test } from 'tap'
import type { AccountSpec } from '../../crds/src/kinds/account.ts'
import { API_VERSION } from '../../crds/src/names.ts'
import { call } from './api-client.ts'
import { kubectl } from './cluster-environment.ts'
import { createApiKey } from './cluster-keys.ts'
import { run } from './cluster-pools.ts'
import { eventually } from './eventually.ts'

/** A customer of a test's own. */
export interface ClusterAccount {
  name: string
  /** Text of its key. */
  key: string
}

/** Makes another key of an account, and waits until it is let in; it goes with the test. */
export async function createClusterKey(t: Test, name: string, accountName: string): Promise<string> {
  t.teardown(() => kubectl(['delete', `apikey/${name}`, '--ignore-not-found', '--wait=false']))
  const key = await createApiKey(name, accountName)
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
