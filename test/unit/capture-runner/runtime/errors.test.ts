import t from 'tap'
import { CaptureError, refusalOf, toCaptureError } from '../../../../capture-runner/src/runtime/errors.ts'

t.test('CaptureError derives from its code whether another attempt may succeed', async (t) => {
  t.equal(new CaptureError('TIMEOUT', 'late').retryable, false)
  t.equal(new CaptureError('STORAGE_FAILED', 'away').retryable, true)
})

t.test('toCaptureError separates the client’s message from the cause', async (t) => {
  const own = new CaptureError('TIMEOUT', 'late')
  t.equal(toCaptureError(own), own)
  const bug = new TypeError('/app/main.mjs: x is not a function')
  const reported = toCaptureError(bug)
  t.match(reported, { code: 'INTERNAL_ERROR', retryable: true, cause: bug })
  t.notMatch(reported.message, /main/)
})

const lost = (type: string) =>
  Object.assign(new Error('Protocol error (Emulation.setTimezoneOverride): Internal server error, session closed.'), { type })
const errors: [error: unknown, refusal: string | undefined][] = [
  [new Error('Protocol error (Emulation.setLocaleOverride): Invalid locale name'), 'Invalid locale name'],
  [new Error('browserContext.newPage: Protocol error (Emulation.setLocaleOverride): Invalid locale name'), 'Invalid locale name'],
  [new Error('browserContext.newPage: Invalid timezone ID: utc\nCall log:\n'), 'Invalid timezone ID: utc'],
  [
    new Error('browser.newContext: geolocation.accuracy: precondition 0 <= ACCURACY failed.'),
    'geolocation.accuracy: precondition 0 <= ACCURACY failed.',
  ],
  [new Error('Protocol error (Fetch.continueRequest): Unsafe header: TE'), 'Unsafe header: TE'],
  [new Error('Protocol error (Fetch.continueRequest): Invalid InterceptionId.'), undefined],
  [new Error('Protocol error (Emulation.setVirtualTimePolicy): initialVirtualTime must be set first'), undefined],
  [new Error('Protocol error (Target.createTarget): Failed to open a new tab'), undefined],
  [new Error('browserContext.newPage: Target page, context or browser has been closed'), undefined],
  [new Error('browser.newContext: Timeout 30000ms exceeded.'), undefined],
  [lost('closed'), undefined],
  [lost('crashed'), undefined],
  [new TypeError('x is not a function'), undefined],
  [new CaptureError('TIMEOUT', 'browser.newContext: late'), undefined],
  ['browser.newContext: a text', undefined],
]
t.test('refusalOf tells a browser that refuses an option from one that is lost', async (t) => {
  for (const [error, refusal] of errors) t.equal(refusalOf(error), refusal, String(error))
  t.match(toCaptureError(errors[0]?.[0], { name: 'navigate', code: 'NAVIGATION_FAILED' }), { code: 'INVALID_OPTIONS', retryable: false })
})
