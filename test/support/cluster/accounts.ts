import type { Test } from 'tap'
import { API_VERSION } from '../../../crds/src/identifiers/names.ts'
import type { AccountSpec } from '../../../crds/src/kinds/account.ts'
import { eventually } from '../eventually.ts'
import { call } from './api-client.ts'
import { kubectl, kubectlJson, requireKubectl } from './environment.ts'
import { createApiKey } from './keys.ts'
import { run } from './pools.ts'

/** An account of one test, with the text of its key. */
export type ClusterAccount = Awaited<ReturnType<typeof createClusterAccount>>

/** Creates another key of an account, and waits until it is accepted. It is deleted with the account. */
export async function createClusterKey(name: string, accountName: string): Promise<string> {
  const key = await createApiKey(name, accountName)
  await eventually(`the key of ${accountName} is accepted`, async () => (await call('/api/v1/usage/current', { key })).status === 200)
  return key
}

/** Creates an account and waits until its key works. The test's teardown deletes everything. */
export async function createClusterAccount(t: Test, purpose: string, spec: AccountSpec) {
  const name = `${purpose}-${run}`
  t.teardown(() => removeAccount(name))
  await requireKubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: API_VERSION, kind: 'Account', metadata: { name }, spec }))
  return { name, key: await createClusterKey(name, name) }
}

interface Owned {
  metadata: { name: string }
  spec: { accountName?: string }
}

/** Otherwise screenshots of a failed test would block the runners for the next test. */
async function removeAccount(name: string): Promise<void> {
  for (const kind of ['screenshots', 'webhooks', 'apikeys']) {
    const { items } = await kubectlJson<{ items: Owned[] }>(['get', kind])
    const own = items.filter(({ spec }) => spec.accountName === name).map(({ metadata }) => metadata.name)
    if (own.length > 0) await kubectl(['delete', kind, '--wait=false', '--ignore-not-found', ...own])
  }
  await kubectl(['delete', 'account', name, '--ignore-not-found', '--wait=false'])
}

/** The current month of the quota. */
export const thisMonth = (): string => new Date().toISOString().slice(0, 7)

/** Sets the usage of an account without creating screenshots. Waits until the API reports it. */
export async function chargeAccount({ name, key }: ClusterAccount, used: number, period = thisMonth()): Promise<void> {
  // The operator creates the object soon after the account.
  await eventually(`the count of ${name} exists`, async () => (await kubectl(['get', 'accountusage', name])).code === 0)
  const patch = JSON.stringify({ status: { period, used } })
  await requireKubectl(['patch', 'accountusage', name, '--subresource=status', '--type=merge', '-p', patch])
  const expected = period === thisMonth() ? used : 0
  await eventually(`the count of ${name} is ${expected}`, async () => {
    // Each replica has its own informer cache.
    const answers = await Promise.all([1, 2, 3, 4].map(() => call<{ data: { count: number } }>('/api/v1/usage/current', { key })))
    return answers.every(({ body }) => body.data.count === expected)
  })
}
