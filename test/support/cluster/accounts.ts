import type { Test } from 'tap'
import { API_VERSION } from '../../../crds/src/identifiers/names.ts'
import type { AccountSpec } from '../../../crds/src/kinds/account.ts'
import { eventually } from '../eventually.ts'
import { call } from './api-client.ts'
import { kubectl, kubectlJson } from './environment.ts'
import { createApiKey } from './keys.ts'
import { run } from './pools.ts'

/** A customer of a test's own. */
export interface ClusterAccount {
  name: string
  /** Text of its key. */
  key: string
}

/** Makes another key of an account, and waits until it is let in; it goes with the account. */
export async function createClusterKey(name: string, accountName: string): Promise<string> {
  const key = await createApiKey(name, accountName)
  await eventually(`the key of ${accountName} is let in`, async () => (await call('/api/v1/usage/current', { key })).status === 200)
  return key
}

/** Makes a customer and waits until its key works; all that is left of it goes with the test. */
export async function createClusterAccount(t: Test, purpose: string, spec: AccountSpec): Promise<ClusterAccount> {
  const name = `${purpose}-${run}`
  t.teardown(() => removeAccount(name))
  const object = { apiVersion: API_VERSION, kind: 'Account', metadata: { name }, spec }
  const { code, stderr } = await kubectl(['apply', '-f', '-'], JSON.stringify(object))
  if (code !== 0) throw new Error(`account ${name} cannot be made: ${stderr}`)
  return { name, key: await createClusterKey(name, name) }
}

interface Owned {
  metadata: { name: string }
  spec: { accountName?: string }
}

/** What is left of a failed test would keep the runners from the next one for a long time. */
async function removeAccount(name: string): Promise<void> {
  for (const kind of ['screenshots', 'webhooks', 'apikeys']) {
    const { items } = await kubectlJson<{ items: Owned[] }>(['get', kind])
    const own = items.filter(({ spec }) => spec.accountName === name).map(({ metadata }) => metadata.name)
    if (own.length > 0) await kubectl(['delete', kind, '--wait=false', '--ignore-not-found', ...own])
  }
  await kubectl(['delete', 'account', name, '--ignore-not-found', '--wait=false'])
}

/** The month that is counted now. */
export const thisMonth = (): string => new Date().toISOString().slice(0, 7)

/** Puts an account where it would be after so many screenshots: nobody has the time to make them. Waits until the API says so. */
export async function chargeAccount({ name, key }: ClusterAccount, used: number, period = thisMonth()): Promise<void> {
  // The operator makes it soon after the account.
  await eventually(`the count of ${name} exists`, async () => (await kubectl(['get', 'accountusage', name])).code === 0)
  const patch = JSON.stringify({ status: { period, used } })
  const { code, stderr } = await kubectl(['patch', 'accountusage', name, '--subresource=status', '--type=merge', '-p', patch])
  if (code !== 0) throw new Error(`account ${name} cannot be charged: ${stderr}`)
  const expected = period === thisMonth() ? used : 0
  await eventually(`the count of ${name} is ${expected}`, async () => {
    // Each replica has a copy of its own.
    const answers = await Promise.all([1, 2, 3, 4].map(() => call<{ data: { count: number } }>('/api/v1/usage/current', { key })))
    return answers.every(({ body }) => body.data.count === expected)
  })
}
