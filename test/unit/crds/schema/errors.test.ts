import t from 'tap'
import { HTTP_ERRORS, isRetryable, JOB_ERRORS, type JobErrorCode } from '../../../../crds/src/schema/errors.ts'

const table = [...Object.entries(JOB_ERRORS), ...Object.entries(HTTP_ERRORS)]

t.test('every error has a code in capitals and a remedy', async (t) => {
  t.strictSame(
    table.filter(([code, { remedy }]) => !/^[A-Z]+(_[A-Z]+)*$/.test(code) || !/^\S.{10,}\.$/.test(remedy)),
    [],
  )
})

t.test('errors of requests have a 4xx or 5xx status', async (t) => {
  t.strictSame(
    Object.entries(HTTP_ERRORS).filter(([, { status }]) => status < 400 || status >= 600),
    [],
  )
})

t.test('isRetryable is true for failures of the service and false for failures of the page', async (t) => {
  const retryable = (Object.keys(JOB_ERRORS) as JobErrorCode[]).filter(isRetryable)
  t.strictSame(retryable.sort(), ['INTERNAL_ERROR', 'STORAGE_FAILED'])
})
