import t from 'tap'
import type { CapturePolicySpec } from '../../../../../crds/src/kinds/capture-policy.ts'
import { aScheduleGateway, hourly, url } from './schedule-gateway.ts'

const one: CapturePolicySpec = { allowedHosts: ['example.com'], allowedOptions: ['fullPage', 'scripts', 'compareTo'] }
const wide: CapturePolicySpec = { allowedHosts: ['example.com', '*.example.org'] }
const narrow = { status: 403, body: { error: { code: 'POLICY_TOO_NARROW' } } }

/** A gateway with a schedule of a limited key. */
async function aLimitedSchedule(policy: CapturePolicySpec = one, body: object = hourly) {
  const gateway = aScheduleGateway()
  const limited = gateway.addKey({ capturePolicy: policy })
  const created = await gateway.call('POST', '/schedules', body, limited.headers)
  const path = `/schedules/${created.body.data.id}`
  const patch = (change: object, headers: Record<string, string>) => gateway.call('PATCH', path, change, headers)
  const run = (headers: Record<string, string>) => gateway.call('POST', `${path}/run`, undefined, headers)
  const kept = () => gateway.newest().spec.template.capturePolicy
  /** Changes the policy of the key. */
  const limit = (capturePolicy: CapturePolicySpec | undefined) =>
    gateway.apiKeys.put({
      ...limited.key,
      metadata: gateway.apiKeys.objects.find(({ metadata }) => metadata.name === limited.key.metadata.name)!.metadata,
      spec: { accountName: 'acme', ...(capturePolicy ? { capturePolicy } : {}) },
    })
  return { ...gateway, limited, created, path, patch, run, kept, limit }
}

t.test('a schedule keeps the id of its key and the whole policy, and its record shows them', async (t) => {
  const { created, kept, limited } = await aLimitedSchedule()
  t.strictSame(kept(), { keyId: limited.id, ...one })
  t.strictSame(created.body.data.capture_policy, {
    key_id: limited.id,
    allowed_hosts: ['example.com'],
    allowed_request_hosts: null,
    allowed_options: ['full_page', 'scripts', 'compare_to'],
    allow_own_content: null,
  })
})

t.test('a key that is not as wide may not change, run or approve a schedule: with a policy, without one, or of kubectl', async (t) => {
  const { addKey, add, call, path, schedules, screenshots, create } = await aLimitedSchedule(wide)
  const narrower = addKey({ capturePolicy: one })
  const unlimited = (await create()).path
  const byKubectl = add().path
  const before = schedules.objects
  for (const place of [path, unlimited, byKubectl])
    for (const [method, suffix, body] of [
      ['PATCH', '', { suspend: false }],
      ['PATCH', '', { url: 'https://example.com/a' }],
      ['PATCH', '', { capture_policy: null }],
      ['POST', '/run', undefined],
      ['POST', '/approve', {}],
      ['POST', '/undo-approval', undefined],
    ] as const)
      t.match(await call(method, place + suffix, body, narrower.headers), narrow, `${method} ${suffix} ${JSON.stringify(body)}`)
  t.strictSame(schedules.objects, before)
  t.equal(screenshots.objects.size, 0)
})

t.test('a wider key may change, resume and run a schedule, and the policy stays', async (t) => {
  const { addKey, limited, patch, run, kept, screenshots } = await aLimitedSchedule({ allowedHosts: ['example.com'] })
  const wider = addKey({ capturePolicy: wide })
  t.equal((await patch({ suspend: true, url: 'https://example.com/a' }, wider.headers)).status, 200)
  t.equal((await patch({ suspend: false }, wider.headers)).status, 200)
  t.strictSame(kept(), { keyId: limited.id, allowedHosts: ['example.com'] })
  t.match(await patch({ url: 'https://a.example.org/' }, wider.headers), { status: 400, body: { error: { code: 'URL_NOT_ALLOWED' } } })
  t.match(await patch({ options: { scripts: 'a()' } }, wider.headers), { status: 403, body: { error: { code: 'OPTION_NOT_ALLOWED' } } })
  t.equal((await run(wider.headers)).status, 202)
  t.strictSame(screenshots.specs[0]?.capturePolicy, { keyId: limited.id, allowedHosts: ['example.com'] })
})

t.test('only a key without limits removes the policy of a schedule', async (t) => {
  const { addKey, limited, headers, patch, kept } = await aLimitedSchedule()
  for (const limitedKey of [addKey({ capturePolicy: { ...one, allowedOptions: [...one.allowedOptions!, 'format'] } }), limited])
    t.match(await patch({ capture_policy: null }, limitedKey.headers), narrow)
  const refused = await patch({ capture_policy: { allowed_hosts: [] } }, headers)
  t.match(refused, { status: 400, body: { error: { details: [{ path: 'capture_policy' }] } } }, 'a policy cannot be set')
  t.ok(kept())
  t.equal((await patch({ capture_policy: null }, headers)).body.data.capture_policy, null)
  t.equal(kept(), undefined)
  t.match(await patch({ suspend: true }, limited.headers), narrow, 'its first key is narrower now')
})

t.test('a change by its own key renews the policy, and must obey the new one', async (t) => {
  const { limit, limited, patch, kept } = await aLimitedSchedule(wide)
  const next = { allowedHosts: ['*.example.org'] }
  limit(next)
  t.match(await patch({ url: 'https://example.com/a' }, limited.headers), { status: 400, body: { error: { code: 'URL_NOT_ALLOWED' } } })
  t.strictSame(kept(), { keyId: limited.id, ...wide })
  t.equal((await patch({ url: 'https://a.example.org/' }, limited.headers)).status, 200)
  t.strictSame(kept(), { keyId: limited.id, ...next })
})

t.test('a run that a client starts obeys the policy of the schedule and the one that its key has now', async (t) => {
  const { limit, limited, headers, run, screenshots, apiKeys, quota } = await aLimitedSchedule({ allowedHosts: ['*.com', 'example.com'] })
  limit({ allowedHosts: ['example.com', 'example.org'], allowedRequestHosts: ['example.com'] })
  t.equal((await run(limited.headers)).status, 202)
  t.strictSame(screenshots.specs[0]?.capturePolicy, {
    keyId: limited.id,
    allowedHosts: ['example.com'],
    allowedRequestHosts: ['example.com'],
  })
  limit({ allowedHosts: ['example.org'] })
  const { used } = quota
  for (const caller of [limited.headers, headers]) {
    const refused = await run(caller)
    t.match(refused, { status: 400, body: { error: { code: 'URL_NOT_ALLOWED' } } })
    t.match(refused.body.error.message, new RegExp(`${limited.id} does not allow the host example.com`))
  }
  t.strictSame([screenshots.objects.size, quota.used], [1, used])
  apiKeys.remove(apiKeys.objects.find(({ metadata }) => metadata.name === limited.key.metadata.name)!)
  t.equal((await run(headers)).status, 202, 'a deleted key leaves the policy of the schedule')
})

t.test('a run obeys a policy that its key did not have when the schedule was made', async (t) => {
  const { limit, headers, limited, run, patch } = await aLimitedSchedule({}, { ...hourly, options: { scripts: 'a()' } })
  limit({ allowOwnContent: false })
  t.match(await run(headers), { status: 403, body: { error: { code: 'OPTION_NOT_ALLOWED' } } })
  t.equal((await patch({ options: { scripts: null }, url }, limited.headers)).status, 200)
  t.equal((await run(limited.headers)).status, 202)
})

t.test('hidden options count by their names', async (t) => {
  const policy = { allowOwnContent: true, allowedOptions: ['styles', 'headers', 'fullPage'] }
  const options = { styles: 'p{}'.repeat(4_000), headers: { 'x-a': 'b' } }
  const { limit, limited, run, patch } = await aLimitedSchedule(policy, { ...hourly, options })
  limit({ ...policy, allowedOptions: ['styles', 'fullPage'] })
  t.match(await run(limited.headers), { status: 403, body: { error: { message: /does not allow headers/ } } })
  limit({ ...policy, allowOwnContent: false })
  t.match(await run(limited.headers), { status: 403, body: { error: { message: /does not allow styles/ } } })
  t.match(await patch({ options: { full_page: true } }, limited.headers), {
    status: 403,
    body: { error: { message: /does not allow styles/ } },
  })
  t.equal((await patch({ options: { styles: null, headers: null } }, limited.headers)).status, 200)
})
