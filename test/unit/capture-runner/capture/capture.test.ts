import { DEFAULT_EGRESS_RULES } from '@tintype/crds/addresses/address-rules'
import t from 'tap'
import { armEgress, repeatedly } from '../../../../capture-runner/src/capture/capture.ts'
import type { Captured } from '../../../../capture-runner/src/capture/run.ts'
import type { EgressPolicy, ParentProxy } from '../../../../capture-runner/src/egress/route.ts'
import { CaptureError, FrameHungError } from '../../../../capture-runner/src/runtime/errors.ts'

const captured = () => ({ picture: Buffer.alloc(0), findings: { warnings: [] as string[] } }) as unknown as Captured
const within = (milliseconds = 60_000) => ({ deadline: Date.now() + milliseconds, signal: new AbortController().signal })

/** Fails a number of times, and then succeeds. */
function failing(times: number, error: Error) {
  let attempts = 0
  return Object.assign(
    async () => {
      attempts += 1
      if (attempts <= times) throw error
      return captured()
    },
    { count: () => attempts },
  )
}

const broken = new CaptureError('NAVIGATION_FAILED', 'reset')

t.test('repeatedly takes one screenshot if it succeeds', async (t) => {
  const take = failing(0, broken)
  t.strictSame((await repeatedly({ retries: 5, retryDelay: 0 }, within(), take)).findings.warnings, [])
  t.equal(take.count(), 1)
})

t.test('repeatedly retries temporary failures, and adds a warning', async (t) => {
  const { findings } = await repeatedly({ retries: 2, retryDelay: 1 }, within(), failing(2, broken))
  t.strictSame(findings.warnings, ['the capture succeeded at retry 2 of 2'])
})

for (const [name, plan, time, error] of [
  ['attempts are used up', { retries: 1, retryDelay: 0 }, 60_000, broken],
  ['no time is left', { retries: 5, retryDelay: 0 }, 4_000, broken],
  ['the failure is permanent', { retries: 5, retryDelay: 0 }, 60_000, new CaptureError('DNS_FAILED', 'no such name')],
  ['it is no failure of a page', { retries: 5, retryDelay: 0 }, 60_000, new Error('a bug')],
] as const) {
  t.test(`repeatedly gives up when ${name}`, async (t) => {
    await t.rejects(repeatedly(plan, within(time), failing(9, error)), error)
  })
}

const once = (take: (isRealTime: boolean) => Promise<Captured>) => repeatedly({ retries: 0, retryDelay: 0 }, within(), take)

t.test('repeatedly captures once more in real time after a frame that never ends, with a warning', async (t) => {
  const modes: boolean[] = []
  const { findings } = await once(async (isRealTime) => {
    modes.push(isRealTime)
    if (!isRealTime) throw new FrameHungError()
    return captured()
  })
  t.strictSame(modes, [false, true])
  t.match(findings.warnings, [/loaded a second time$/])
})

t.test('repeatedly never captures a third time after frames that never end', async (t) => {
  const take = failing(9, new FrameHungError())
  await t.rejects(once(take), { message: 'the browser stopped drawing' })
  t.equal(take.count(), 2)
})

const policy: EgressPolicy = { rules: DEFAULT_EGRESS_RULES, maxBytes: 1 }
const proxy: ParentProxy = { url: 'http://proxy.example:3128', direct: [], chosenBy: 'user' }
const own: ParentProxy = { url: 'http://operator.example', direct: ['*.example'], chosenBy: 'operator' }

/** The policies that the session was armed with. */
const opened = (given: EgressPolicy, plan: Parameters<typeof armEgress>[2]): EgressPolicy[] => {
  const armed: EgressPolicy[] = []
  armEgress({ arm: (one) => void armed.push(one) }, given, plan)
  return armed
}

t.test('armEgress uses the pool’s rules', async (t) => {
  t.strictSame(opened(policy, {}), [policy])
})

t.test('armEgress limits the hosts of requests to those of the API key', async (t) => {
  const limit = { keyId: 'key_1', hosts: ['site.example'] }
  const capturePolicy = { keyId: 'key_1', allowedRequestHosts: ['site.example'] }
  t.strictSame(opened(policy, { capturePolicy }), [{ ...policy, limit }])
  t.strictSame(opened(policy, { capturePolicy, proxy }), [{ ...policy, limit, parentProxy: proxy }])
  t.strictSame(opened(policy, { capturePolicy: { keyId: 'key_1', allowedHosts: ['site.example'] } }), [policy], 'not to those of pages')
})

t.test('armEgress never arms the session of an offline capture', async (t) => {
  t.strictSame(opened(policy, { isOffline: true, proxy }), [])
})

t.test('armEgress uses the client’s proxy, reached through the operator’s', async (t) => {
  t.strictSame(opened(policy, { proxy }), [{ ...policy, parentProxy: proxy }])
  t.strictSame(opened({ ...policy, parentProxy: own }, { proxy }), [{ ...policy, parentProxy: { ...proxy, via: own } }])
})
