import { readFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { ApiError, invalid, toErrorBody, toHttpError } from '../../../../api-gateway/src/common/errors.ts'
import { HTTP_ERRORS, type HttpErrorCode, JOB_ERRORS, PROBLEM_CODES } from '../../../../crds/src/schema/errors.ts'

for (const [code, { status }] of Object.entries(HTTP_ERRORS)) {
  t.test(`toHttpError answers ${code} with ${status}`, async (t) => {
    const response = toHttpError(new ApiError(code as HttpErrorCode, 'words for a person', { headers: { allow: 'GET' } }))
    t.match(response, { status, code, message: 'words for a person', headers: { allow: 'GET' } })
    t.equal('retry-after' in response.headers, status === 503)
  })
}

const framework = [
  { code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE', status: 415 },
  { code: 'FST_ERR_BAD_URL', status: 400 },
]
for (const { code, status } of framework) {
  t.test(`toHttpError translates fastify's ${code}`, async (t) => {
    t.equal(toHttpError(Object.assign(new Error('internal words'), { code })).status, status)
    t.notMatch(toHttpError(Object.assign(new Error('internal words'), { code })).message, 'internal words')
  })
}

t.test('toHttpError says nothing about what is not ours', async (t) => {
  for (const error of [new Error('password=1'), Object.assign(new Error('x'), { statusCode: 404 }), 'text', undefined, null]) {
    t.strictSame(toHttpError(error), {
      status: 500,
      code: 'INTERNAL_ERROR',
      message: 'internal error: contact an administrator of this service with the request id',
      headers: {},
    })
  }
})

t.test('invalid carries every problem, and the words of a single one', async (t) => {
  const one = { path: 'url', code: 'required', message: 'url is required' } as const
  t.equal(invalid([one]).message, 'url is required')
  t.equal(invalid([one, one]).message, 'the request has 2 problems')
  t.strictSame(invalid([one, one]).details, [one, one])
})

t.test('toErrorBody has the shape of the specification, details only where there are some', async (t) => {
  t.strictSame(toErrorBody({ code: 'NOT_FOUND', message: 'no' }, 'r1'), {
    success: false,
    error: { message: 'no', code: 'NOT_FOUND', request_id: 'r1' },
  })
  t.strictSame(toErrorBody({ code: 'CAPTURE_FAILED', message: 'no', details: { code: 'TIMEOUT' } }, 'r1').error.details, {
    code: 'TIMEOUT',
  })
})

// docs/api.md is written by hand, but its tables must match the code. A failure names the missing row.

const text = await readFile(path.join(import.meta.dirname, '../../../../docs/api.md'), 'utf8')

/** The rows of the table below a heading. */
function rowsBelow(heading: string): string[] {
  const [, chapter = ''] = text.split(`\n### ${heading}\n`)
  const [table = ''] = chapter.split('\n#')
  return table.split('\n').filter((line) => line.startsWith('| ') && line.includes('`'))
}

const tables: [heading: string, rows: string[]][] = [
  ['Responses', Object.entries(HTTP_ERRORS).map(([code, { status, remedy }]) => `| ${status} | \`${code}\` | ${remedy} |`)],
  ['Problems in `error.details`', Object.entries(PROBLEM_CODES).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`)],
  ['Failed captures', Object.entries(JOB_ERRORS).map(([code, { remedy }]) => `| \`${code}\` | ${remedy} |`)],
]
for (const [heading, rows] of tables) {
  t.test(`docs/api.md lists exactly the codes under "${heading}"`, async (t) => {
    t.strictSame(rowsBelow(heading).sort(), rows.sort())
  })
}
