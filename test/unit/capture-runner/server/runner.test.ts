import { type CaptureOrder, OUT_OF_MEMORY } from '@tintype/crds/dispatch/dispatch'
import pino from 'pino'
import t from 'tap'
import type { Attempt } from '../../../../capture-runner/src/capture/capture.ts'
import { buildFailure, type Outcome } from '../../../../capture-runner/src/capture/outcome.ts'
import { CaptureError } from '../../../../capture-runner/src/runtime/errors.ts'
import type { Reported } from '../../../../capture-runner/src/server/report.ts'
import { Runner } from '../../../../capture-runner/src/server/runner.ts'
import { NOON } from '../../../support/fakes/builders.ts'

const anOrder = (given: Partial<CaptureOrder> = {}): CaptureOrder => ({
  uid: 'a',
  name: 'scr-1',
  namespace: 'default',
  accountName: 'default',
  attempt: 1,
  url: 'https://example.com/?secret',
  upload: { url: 'http://store/x?signature', headers: {}, maxBytes: 1 },
  deadline: 0,
  ...given,
})

const anAttempt = (code?: 'TIMEOUT' | 'STORAGE_FAILED'): Attempt => {
  const error = code && new CaptureError(code, 'why')
  const outcome = buildFailure(error ?? new CaptureError('TIMEOUT', 'stands for any'), { processingMilliseconds: 1, timings: {} }, NOON)
  return { outcome, error }
}

/** A runner whose captures and reports the test controls. */
function aRunner() {
  const captures: {
    order: CaptureOrder
    canceled: AbortSignal
    take: () => void
    draw: () => void
    end: (attempt: Attempt) => void
    fail: (error: unknown) => void
  }[] = []
  const reports: { uid: string; outcome: Outcome; canceled: AbortSignal; end: (reported: Reported) => void }[] = []
  const lines: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })
  const runner = new Runner({
    capture: (order, canceled, { onPageReady, onTaken }) => {
      const { promise, resolve, reject } = Promise.withResolvers<Attempt>()
      canceled.addEventListener('abort', () => reject(canceled.reason))
      captures.push({ order, canceled, take: onPageReady, draw: onTaken, end: resolve, fail: reject })
      return promise
    },
    report: ({ uid }, outcome, canceled) => {
      const { promise, resolve, reject } = Promise.withResolvers<Reported>()
      canceled.addEventListener('abort', () => reject(canceled.reason))
      reports.push({ uid, outcome, canceled, end: resolve })
      return promise
    },
    log,
  })
  /** Ends a capture. */
  const end = (index: number, attempt = anAttempt()) => {
    captures[index]?.end(attempt)
    return settled()
  }
  /** Ends a report. */
  const write = (index: number) => {
    reports[index]?.end('written')
    return settled()
  }
  return { runner, captures, reports, lines, end, write }
}

/** The same during a capture. */
function aBusyRunner() {
  const made = aRunner()
  made.runner.accept(anOrder())
  return made
}

/** Waits for pending promises. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

t.test('Runner accepts an order once, reports its result, and answers a repeated one with its state', async (t) => {
  const { runner, captures, end, write } = aRunner()
  t.match(runner.accept(anOrder()), { kind: 'accepted', state: { uid: 'a', attempt: 1, state: 'running' } })
  t.match(runner.accept(anOrder()), { kind: 'known', state: { state: 'running' } })
  await end(0)
  t.match(runner.accept(anOrder()), { kind: 'known', state: { state: 'reporting' } })
  await write(0)
  t.match(runner.accept(anOrder()), { kind: 'known', state: { state: 'done' } })
  t.equal(captures.length, 1)
})

t.test('Runner starts another capture while the last one is being stored', async (t) => {
  const { runner, captures, reports, end } = aBusyRunner()
  let isTold = false
  const waiting = runner.whenFinished('a', 60_000, 'taken').then(() => {
    isTold = true
  })
  await settled()
  t.notOk(isTold)
  captures[0]?.take()
  await waiting
  t.match(runner.find('a'), { state: 'running', isTaken: true })
  t.equal(runner.accept(anOrder({ uid: 'b' })).kind, 'accepted')
  t.match(runner.accept(anOrder({ uid: 'c' })), { kind: 'busy', state: { uid: 'b' } })
  await end(0)
  t.match(reports, [{ uid: 'a' }])
  t.match([runner.find('a'), runner.find('b')], [{ state: 'reporting' }, { state: 'running', isTaken: undefined }])
})

t.test('Runner holds at most two unstored screenshots', async (t) => {
  const { runner, captures, end } = aBusyRunner()
  captures[0]?.take()
  runner.accept(anOrder({ uid: 'b' }))
  captures[1]?.take()
  t.match(runner.accept(anOrder({ uid: 'c' })), { kind: 'busy', state: { state: 'running' } })
  await end(0)
  t.equal(runner.accept(anOrder({ uid: 'c' })).kind, 'accepted')
})

t.test('Runner gives up a capture that it could not store, and keeps the next one', async (t) => {
  const { runner, captures, end } = aBusyRunner()
  captures[0]?.take()
  runner.accept(anOrder({ uid: 'b' }))
  await end(0, anAttempt('STORAGE_FAILED'))
  t.equal(runner.find('a'), undefined)
  t.match(runner.findGivenUp('a'), { code: 'STORAGE_FAILED' })
  t.match(runner.find('b'), { state: 'running' })
})

t.test('Runner is busy for every other order during a capture, including its next attempt', async (t) => {
  const { runner } = aBusyRunner()
  t.match(runner.accept(anOrder({ uid: 'b' })), { kind: 'busy', state: { uid: 'a' } })
  t.match(runner.accept(anOrder({ attempt: 2 })), { kind: 'busy', state: { uid: 'a', attempt: 1 } })
})

t.test('Runner takes a second attempt alone, so that the loss of its page can only be its own fault', async (t) => {
  const { runner, captures } = aBusyRunner()
  captures[0]?.take()
  t.equal(runner.accept(anOrder({ uid: 'b', attempt: 2 })).kind, 'accepted')
  await settled()
  t.equal(captures.length, 1, 'the first picture is not drawn yet')
  captures[0]?.draw()
  await settled()
  t.match(captures[1]?.order, { uid: 'b' })
  captures[1]?.take()
  t.match(runner.accept(anOrder({ uid: 'c' })), { kind: 'busy', state: { uid: 'b' } }, 'none begins while it draws')
  captures[0]?.end(anAttempt())
  captures[1]?.draw()
  await settled()
  t.equal(runner.accept(anOrder({ uid: 'c' })).kind, 'accepted', 'while it is stored')
})

t.test('Runner gives up a capture whose page was ended for the memory of another', async (t) => {
  const { runner, reports, end } = aBusyRunner()
  const error = new CaptureError('INTERNAL_ERROR', 'why', { givenUpAs: OUT_OF_MEMORY })
  await end(0, { ...anAttempt(), error })
  t.strictSame(reports, [])
  t.match(runner.findGivenUp('a'), { uid: 'a', attempt: 1, code: OUT_OF_MEMORY, message: 'why' })
})

t.test('Runner reports a retryable failure in the last attempt', async (t) => {
  const { runner, reports, end } = aRunner()
  runner.accept(anOrder({ attempt: 3 }))
  await end(0, anAttempt('STORAGE_FAILED'))
  t.match(reports, [{ uid: 'a', outcome: { phase: 'Failed', result: { error: { code: 'STORAGE_FAILED' } } } }])
})

t.test('Runner drops a canceled capture, running or being reported', async (t) => {
  const { runner, captures, reports, end } = aRunner()
  t.equal(runner.cancel('a'), false)
  runner.accept(anOrder())
  t.equal(runner.cancel('a'), true)
  t.match(captures[0]?.canceled.reason, { code: 'CANCELLED' })
  await settled()
  t.strictSame([runner.find('a'), runner.findGivenUp('a')], [undefined, undefined])
  t.equal(reports.length, 0)

  runner.accept(anOrder({ uid: 'b' }))
  await end(1)
  t.equal(runner.cancel('b'), true)
  await settled()
  t.equal(runner.find('b'), undefined)
})

t.test('Runner survives a bug in a capture', async (t) => {
  const { runner, captures, lines } = aBusyRunner()
  captures[0]?.fail(new Error('bug'))
  await settled()
  t.match(lines.join(), /capture failed unexpectedly/)
  t.equal(runner.accept(anOrder({ uid: 'b' })).kind, 'accepted')
})

t.test('Runner remembers a limited number of captures', async (t) => {
  const { runner, end, write } = aRunner()
  for (let i = 0; i < 40; i++) {
    runner.accept(anOrder({ uid: `uid-${i}` }))
    await end(i)
    await write(i)
  }
  t.equal(runner.find('uid-0'), undefined)
  t.match(runner.find('uid-39'), { state: 'done' })
})

t.test('a closing Runner accepts no order, and waits for its captures', async (t) => {
  const { runner, reports, end } = aBusyRunner()
  const closed = runner.close(60_000)
  t.equal(runner.accept(anOrder({ uid: 'b' })).kind, 'busy')
  await end(0)
  t.equal(runner.accept(anOrder({ uid: 'b' })).kind, 'closed')
  reports[0]?.end('written')
  await closed
  t.match(runner.find('a'), { state: 'done' })
})

t.test('a closing Runner gives up captures after the grace period', async (t) => {
  const { runner, captures } = aBusyRunner()
  await runner.close(1)
  t.ok(captures[0]?.canceled.aborted)
  t.equal(runner.find('a'), undefined)
})

t.test('Runner logs one line per capture, without the client’s data', async (t) => {
  const { lines, end } = aBusyRunner()
  await end(0, anAttempt('TIMEOUT'))
  t.equal(lines.length, 1)
  t.match(JSON.parse(lines[0] ?? ''), { msg: 'capture finished', uid: 'a', attempt: 1, outcome: 'Failed', code: 'TIMEOUT' })
  t.notMatch(lines[0], /secret|signature|example\.com/)
})

t.test('Runner accepts the next order while it reports the last, and counts the captures that it started', async (t) => {
  const { runner, end } = aRunner()
  t.strictSame(runner.history(), { captures: 0 })
  runner.accept(anOrder({ accountName: 'one' }))
  runner.accept(anOrder({ accountName: 'one' }))
  await end(0, anAttempt('TIMEOUT'))
  t.equal(runner.accept(anOrder({ uid: 'b', accountName: 'two' })).kind, 'accepted')
  t.match([runner.find('a'), runner.find('b')], [{ state: 'reporting' }, { state: 'running' }])
  t.strictSame(runner.history(), { captures: 2, accountName: 'two' })
})

t.test('Runner returns why it gave up a capture, also on shutdown', async (t) => {
  const { runner, reports, end } = aBusyRunner()
  await end(0, anAttempt('STORAGE_FAILED'))
  t.strictSame([runner.find('a'), reports], [undefined, []], 'a retryable failure is not reported')
  t.strictSame(runner.findGivenUp('a'), { uid: 'a', attempt: 1, code: 'STORAGE_FAILED', message: 'why' })
  t.equal(runner.accept(anOrder({ uid: 'b' })).kind, 'accepted')
  await runner.close(0)
  t.match(runner.findGivenUp('b'), { code: 'STOPPING', message: 'the runner is shutting down' })
})

t.test('whenFinished resolves when a capture is no longer running', async (t) => {
  const { runner, captures } = aBusyRunner()
  let resolved = 0
  const waiting = runner.whenFinished('a', 60_000).then(() => resolved++)
  await settled()
  t.equal(resolved, 0)
  captures[0]?.end(anAttempt())
  await waiting
  t.match(runner.find('a'), { state: 'reporting' })
  await runner.whenFinished('a', 60_000)
  await runner.whenFinished('unknown', 60_000)
})

t.test('whenFinished waits no longer than requested', async (t) => {
  const { runner } = aBusyRunner()
  await runner.whenFinished('a', 1)
  t.match(runner.find('a'), { state: 'running' })
})
