import t from 'tap'
import { HTTP_ERRORS, isRetryable, JOB_ERRORS, type JobErrorCode } from '../../../../crds/src/schema/errors.ts'

const table = [...Object.entries(JOB_ERRORS), ...Object.entries(HTTP_ERRORS)]

t.test('every error has a code in capitals and a remedy', async (t) => {
  for (const [code, { remedy }] of table) {
    t.match(code, /^[A-Z]+(_[A-Z]+)*$/)
    t.match(remedy, /^\S.{10,}\.$/, code)
  }
})

t.test('errors of requests have a 4xx or 5xx status', async (t) => {
  for (const [code, { status }] of Object.entries(HTTP_ERRORS)) t.ok(status >= 400 && status < 600, `${code}: ${status}`)
})

t.test('isRetryable is true for failures of the service and false for failures of the page', async (t) => {
  const retryable = (Object.keys(JOB_ERRORS) as JobErrorCode[]).filter(isRetryable)
  t.strictSame(retryable.sort(), ['INTERNAL_ERROR', 'STORAGE_FAILED'])
})
