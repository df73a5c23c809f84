import { readFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { HTTP_ERRORS, JOB_ERRORS } from '../../../crds/src/errors.ts'

// docs/api.md is written by hand; what it repeats of the contract must not go stale. A failure names the row that is missing.

const text = await readFile(path.join(import.meta.dirname, '../../../docs/api.md'), 'utf8')
const missing = (rows: readonly string[]): string[] => rows.filter((row) => !text.includes(`\n${row}\n`))

t.test('docs/api.md names every code that answers a request, with its remedy', async (t) => {
  const rows = Object.entries(HTTP_ERRORS).map(([code, { status, remedy }]) => `| ${status} | \`${code}\` | ${remedy} |`)
  t.strictSame(missing(rows), [])
})

t.test('docs/api.md names every code of a failed capture, with its remedy', async (t) => {
  t.strictSame(missing(Object.entries(JOB_ERRORS).map(([code, { remedy }]) => `| \`${code}\` | ${remedy} |`)), [])
})
