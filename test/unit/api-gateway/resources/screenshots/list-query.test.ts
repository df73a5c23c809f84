import t from 'tap'
import { readQuery } from '../../../../../api-gateway/src/http/query.ts'
import { findListQueryProblems, listQuery } from '../../../../../api-gateway/src/resources/screenshots/list-query.ts'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'

const parseListQuery = (query: Record<string, unknown>) => readQuery(query, listQuery, findListQueryProblems)
const cursor = newId('scr', new Date(Date.UTC(2026, 10, 21, 10, 1)), Buffer.alloc(10, 1))

t.test('listQuery takes a larger limit as 500', async (t) => t.equal(parseListQuery({ limit: '9999' }).limit, 500))

t.test('a time keeps its zone if the + of the zone arrives as a space, because a client did not encode it', async (t) => {
  const written = '2026-01-01T00:00:00+01:00'
  for (const text of [written, written.replace('+', ' ')])
    t.strictSame(parseListQuery({ created_after: text }).created_after, new Date(written))
  t.strictSame(parseListQuery({ created_before: '2026-01-01T05:30 05:30' }).created_before, new Date('2026-01-01T00:00:00Z'))
})

t.test('a filter of times refused times with small letters, or with a fraction but a space before it', async (t) => {
  for (const text of ['2026-01-01t00:00:00.123456z', '2026-01-01 00:00:00.123456+00:00', '2026-01-01 00:00:00.123456 00:00'])
    t.strictSame(parseListQuery({ created_after: text }).created_after, new Date('2026-01-01T00:00:00.123Z'))
})

const refused: Record<string, unknown>[] = [
  { limit: '0' },
  { limit: '-1' },
  { limit: '1.5' },
  { limit: ['1', '2'] },
  { offset: 'x' },
  { offset: '1000000001' },
  { offset: '1', cursor },
  { cursor: 'scr_' },
  { status: '' },
  { status: 'completed,' },
  { status: 'Running' },
  { created_after: 'yesterday' },
  { created_after: '2026-02-30' },
  { created_before: '2026-13-01' },
  { created_before: '2026-01-01 10:00' },
  { format: 'gif' },
  { sort: 'url' },
  { order: 'newest' },
  { sort: 'completed_at', cursor },
  { cursor: `01763712003000.${cursor}` },
  { constructor: 'x' },
]
for (const query of refused) {
  t.test(`listQuery refuses ${JSON.stringify(query)}`, async (t) => {
    t.throws(() => parseListQuery(query), { code: 'VALIDATION_ERROR' })
  })
}

t.test('listQuery reports every problem at once', async (t) => {
  try {
    parseListQuery({ limit: '0', statsu: 'failed', format: 'gif' })
    t.fail('it was refused')
  } catch (error) {
    const { details } = error as { details: { path: string; message: string }[] }
    t.strictSame(
      details.map(({ path }) => path),
      ['limit', 'format', 'statsu'],
    )
    t.match(details[2]?.message, 'did you mean status?')
  }
})
