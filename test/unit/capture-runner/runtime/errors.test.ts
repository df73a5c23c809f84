import t from 'tap'
import { CaptureError, toCaptureError } from '../../../../capture-runner/src/runtime/errors.ts'

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
