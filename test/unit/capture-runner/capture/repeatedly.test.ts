import t from 'tap'
import { repeatedly } from '../../../../capture-runner/src/capture/repeatedly.ts'
import type { Captured } from '../../../../capture-runner/src/capture/run.ts'
import { CaptureError } from '../../../../capture-runner/src/runtime/errors.ts'

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
  t.strictSame((await repeatedly({ retries: 5, retryDelayMilliseconds: 0 }, within(), take)).findings.warnings, [])
  t.equal(take.count(), 1)
})

t.test('repeatedly retries temporary failures, and adds a warning', async (t) => {
  const { findings } = await repeatedly({ retries: 2, retryDelayMilliseconds: 1 }, within(), failing(2, broken))
  t.strictSame(findings.warnings, ['the capture succeeded at retry 2 of 2'])
})

for (const [name, plan, time, error] of [
  ['attempts are used up', { retries: 1, retryDelayMilliseconds: 0 }, 60_000, broken],
  ['no time is left', { retries: 5, retryDelayMilliseconds: 0 }, 4_000, broken],
  ['the failure is permanent', { retries: 5, retryDelayMilliseconds: 0 }, 60_000, new CaptureError('DNS_FAILED', 'no such name')],
  ['it is no failure of a page', { retries: 5, retryDelayMilliseconds: 0 }, 60_000, new Error('a bug')],
] as const) {
  t.test(`repeatedly gives up when ${name}`, async (t) => {
    await t.rejects(repeatedly(plan, within(time), failing(9, error)), error)
  })
}
