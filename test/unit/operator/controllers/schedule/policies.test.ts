import t from 'tap'
import { apiKeys } from '../../../../../crds/client/kinds.ts'
import type { ApiKey } from '../../../../../crds/src/kinds/api-key.ts'
import type { CapturePolicySpec } from '../../../../../crds/src/kinds/capture-policy.ts'
import { ConditionType, findCondition } from '../../../../../crds/src/schema/conditions.ts'
import { startSchedule } from './stage.ts'

const KEY = 'key-01kajq2v0vtz8m3c5x7r9w4n6p'
const keyId = KEY.replace('-', '_')
const url = 'https://example.com/'

const aKey = (capturePolicy?: CapturePolicySpec, accountName = 'acme'): ApiKey => ({
  metadata: { name: KEY, namespace: 'default', uid: 'key', resourceVersion: '1', creationTimestamp: '2026-06-01T12:00:00Z' },
  spec: { accountName, ...(capturePolicy ? { capturePolicy } : {}) },
})

/** A schedule with a policy, and its key. */
async function startLimited(
  t: Parameters<typeof startSchedule>[0],
  kept: CapturePolicySpec,
  current: CapturePolicySpec | undefined,
  accountName = 'acme',
) {
  const stage = await startSchedule(t, { template: { url, capturePolicy: { keyId, ...kept } } }, ['home'], ({ cluster }) =>
    cluster.put(apiKeys, aKey(current, accountName)),
  )
  const limit = async (policy: CapturePolicySpec) => {
    stage.cluster.put(apiKeys, aKey(policy))
    await stage.settle()
  }
  const ready = () => findCondition(stage.get().status?.conditions, ConditionType.ready)
  return { ...stage, limit, ready }
}

t.test('a run obeys the policy of the schedule and the one that its key has then', async (t) => {
  const { begin, end, limit } = await startLimited(t, { allowedHosts: ['*.com', 'example.com'], allowedOptions: [] }, undefined)
  const first = await begin()
  t.strictSame(first.spec.capturePolicy, { keyId, allowedHosts: ['*.com', 'example.com'] })
  await end(first)
  await limit({ allowedHosts: ['example.com'], allowedRequestHosts: ['cdn.example'] })
  const second = await begin()
  t.strictSame(second.spec.capturePolicy, { keyId, allowedHosts: ['example.com'], allowedRequestHosts: ['cdn.example'] })
})

t.test('no run is created that the key does not allow any more, and the next one is when it does', async (t) => {
  const { run, runs, begin, limit, ready, cluster, settle } = await startLimited(t, {}, undefined)
  await run()
  await limit({ allowedHosts: ['other.example'] })
  t.match(ready(), {
    status: 'False',
    reason: 'UrlNotAllowed',
    message: new RegExp(`capture policy of ${keyId} does not allow the host example.com`),
  })
  await begin()
  t.equal(runs().length, 1)
  cluster.remove(apiKeys, KEY)
  await settle()
  t.match(ready(), { status: 'True' }, 'a deleted key leaves the policy of the schedule')
})

t.test('a key of another account does not limit a run', async (t) => {
  const { ready } = await startLimited(t, {}, { allowedHosts: [] }, 'other')
  t.match(ready(), { status: 'True' })
})

t.test('a URL or an option that kubectl sets beside the policy of the schedule creates no run', async (t) => {
  const { change, runs, begin, ready } = await startLimited(t, { allowedHosts: ['example.com'] }, undefined)
  for (const [template, reason] of [
    [{ url: 'https://other.example/' }, 'UrlNotAllowed'],
    [{ url, options: { scripts: 'a()' } }, 'OptionNotAllowed'],
  ] as const) {
    await change({ spec: { template } })
    t.match(ready(), { status: 'False', reason })
    await begin()
  }
  t.equal(runs().length, 0)
})
