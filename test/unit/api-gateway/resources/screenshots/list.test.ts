import t from 'tap'
import { readQuery } from '../../../../../api-gateway/src/http/query.ts'
import {
  assertNoneArchived,
  buildListPage,
  buildLivePage,
  isLiveOnly,
  type ListPage,
  MAX_SCANNED,
  mergeRecords,
  sortLive,
  startOf,
} from '../../../../../api-gateway/src/resources/screenshots/list-page.ts'
import { findListQueryProblems, listQuery } from '../../../../../api-gateway/src/resources/screenshots/list-query.ts'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { aScreenshot } from '../../fakes.ts'

const parseListQuery = (query: Record<string, unknown>) => ({
  ...readQuery(query, listQuery, findListQueryProblems),
  subject: 'screenshot' as const,
})
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

const minute = (n: number): Date => new Date(Date.UTC(2026, 10, 21, 10, n))
const id = (n: number): string => newId('scr', minute(n), Buffer.alloc(10, n))
/** Newest first, as the store gives them: minute 9 down to 0; odd ones are jpegs, the even ones of the first five completed. */
const shots: Screenshot[] = Array.from({ length: 10 }, (_, i) => 9 - i).map((n) =>
  aScreenshot({
    id: id(n),
    url: `https://example.com/${n}`,
    ...(n % 2 === 1 ? { options: { format: 'jpeg' as const } } : {}),
    phase: n % 2 === 0 && n < 5 ? 'Completed' : 'Pending',
  }),
)
async function* read(after: string | undefined, order: 'asc' | 'desc'): AsyncGenerator<Screenshot> {
  yield* sortLive(shots, after, { order })
}
const toNumbers = ({ items, hasMore, nextCursor }: ListPage) => ({
  is: items.map(({ spec }) => Number(spec.url.split('/').at(-1))),
  hasMore,
  nextCursor,
})
const numbers = async (text: Record<string, string>) => {
  const query = parseListQuery(text)
  return toNumbers(await buildListPage(read(startOf(query), query.order), query))
}

const pages: [Record<string, string>, number[], boolean][] = [
  [{}, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0], false],
  [{ limit: '3' }, [9, 8, 7], true],
  [{ limit: '10' }, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0], false],
  [{ limit: '3', offset: '8' }, [1, 0], false],
  [{ limit: '3', cursor: id(7) }, [6, 5, 4], true],
  [{ cursor: id(0) }, [], false],
  [{ status: 'completed' }, [4, 2, 0], false],
  [{ status: 'completed', limit: '2' }, [4, 2], true],
  [{ status: 'completed,pending', limit: '2', offset: '1' }, [8, 7], true],
  [{ status: 'failed' }, [], false],
  [{ format: 'jpeg', limit: '2' }, [9, 7], true],
  [{ url: 'https://example.com/3' }, [3], false],
  [{ created_after: minute(6).toISOString() }, [9, 8, 7], false],
  [{ created_before: minute(2).toISOString() }, [1, 0], false],
  [{ created_after: minute(3).toISOString(), created_before: minute(6).toISOString() }, [5, 4], false],
  [{ order: 'asc' }, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], false],
  [{ order: 'asc', limit: '2', offset: '3' }, [3, 4], true],
  [{ order: 'asc', cursor: id(6) }, [7, 8, 9], false],
  [{ order: 'asc', created_after: minute(2).toISOString(), limit: '3' }, [3, 4, 5], true],
  [{ order: 'asc', created_after: minute(2).toISOString(), cursor: id(3), limit: '3' }, [4, 5, 6], true],
  [{ order: 'asc', created_after: minute(2).toISOString(), cursor: id(1) }, [3, 4, 5, 6, 7, 8, 9], false],
  [{ order: 'asc', created_before: minute(3).toISOString() }, [0, 1, 2], false],
  [{ order: 'asc', status: 'completed', limit: '2' }, [0, 2], true],
]
for (const [query, is, hasMore] of pages) {
  t.test(`buildListPage for ${JSON.stringify(query)}`, async (t) => {
    const page = await numbers(query)
    t.strictSame(page.is, is)
    t.equal(page.hasMore, hasMore)
    t.equal(page.nextCursor === null, !hasMore)
  })
}

t.test('buildListPage goes on where a page ended, through a filter', async (t) => {
  const first = await numbers({ status: 'completed', limit: '2' })
  t.strictSame((await numbers({ status: 'completed', limit: '2', cursor: first.nextCursor ?? '' })).is, [0])
})

t.test('buildListPage looks at ten thousand records and then hands over a cursor', async (t) => {
  let asked = 0
  async function* endless() {
    for (;;) {
      asked++
      yield shots[0]!
    }
  }
  const page = await buildListPage(endless(), parseListQuery({ status: 'failed' }))
  t.equal(asked, MAX_SCANNED + 1)
  t.strictSame(page, { items: [], hasMore: true, nextCursor: id(9) })
})

const named = shots.map((shot, i) => ({
  ...shot,
  spec: { ...shot.spec, batchId: `batch_${i % 2}`, externalIdentifier: `order-${i}` },
}))
t.test('buildListPage finds by batch and by the client’s own name', async (t) => {
  async function* readNamed() {
    yield* named
  }
  t.strictSame(toNumbers(await buildListPage(readNamed(), parseListQuery({ batch_id: 'batch_1' }))).is, [8, 6, 4, 2, 0])
  t.strictSame(toNumbers(await buildListPage(readNamed(), parseListQuery({ external_identifier: 'order-3' }))).is, [6])
})

// Those of minutes 0, 2 and 4 have ended, the oldest last.
const ended = shots.map((shot) => {
  const n = Number(shot.spec.url.split('/').at(-1))
  return shot.status?.phase === 'Completed' ? { ...shot, status: { ...shot.status, completionTime: minute(30 - n).toISOString() } } : shot
})
const livePages: [Record<string, string>, number[]][] = [
  [{ sort: 'completed_at', status: 'completed' }, [0, 2, 4]],
  [{ sort: 'completed_at', order: 'asc', status: 'completed' }, [4, 2, 0]],
  [{ sort: 'completed_at', order: 'asc', limit: '4' }, [4, 2, 0, 9]],
]
for (const [text, is] of livePages) {
  t.test(`buildLivePage for ${JSON.stringify(text)}`, async (t) => {
    const query = parseListQuery(text)
    t.ok(isLiveOnly(query))
    t.strictSame(toNumbers(buildLivePage(ended, query)).is, is)
  })
}

for (const text of [{ sort: 'completed_at' }, { sort: 'completed_at', order: 'asc' }]) {
  t.test(`buildLivePage goes on where a page ended for ${JSON.stringify(text)}`, async (t) => {
    const all = toNumbers(buildLivePage(ended, parseListQuery(text))).is
    const seen: number[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = toNumbers(buildLivePage(ended, parseListQuery({ ...text, limit: '3', ...(cursor ? { cursor } : {}) })))
      seen.push(...page.is)
      cursor = page.nextCursor
    }
    t.strictSame(seen, all)
  })
}

t.test('assertNoneArchived refuses what live records alone cannot answer, and says what would do', async (t) => {
  const query = parseListQuery({ sort: 'completed_at', order: 'asc' })
  assertNoneArchived(undefined, query)
  t.throws(() => assertNoneArchived(shots[5], query), {
    message: new RegExp(`^sort=completed_at .*created_after=${minute(4).toISOString()}`),
  })
  assertNoneArchived(shots[5], parseListQuery({ sort: 'completed_at', created_after: minute(4).toISOString() }))
  t.notOk(isLiveOnly(parseListQuery({ order: 'asc' })))
  t.throws(() => assertNoneArchived(shots[5], parseListQuery({ offset: '10001' })), { message: /^an offset above/ })
})

t.test('startOf begins behind the records that are too young, or at the cursor if that is further', async (t) => {
  const before = startOf(parseListQuery({ created_before: minute(5).toISOString() })) ?? ''
  t.ok(before >= id(5) && before < id(4))
  t.equal(startOf(parseListQuery({ created_before: minute(5).toISOString(), cursor: id(2) })), id(2))
  t.ok(startOf(parseListQuery({ created_before: '1960-01-01' })))
  t.equal(startOf(parseListQuery({})), undefined)
})

const shot = (n: number, place: string): Screenshot =>
  aScreenshot({ id: newId('scr', new Date(Date.UTC(2026, 10, 21, 10, n)), Buffer.alloc(10, n)), url: `https://${place}.example/${n}` })

async function merged(live: readonly number[], archived: readonly number[], order: 'asc' | 'desc' = 'desc'): Promise<string[]> {
  async function* archive() {
    for (const n of archived) yield shot(n, 'a')
  }
  const seen: string[] = []
  const records = mergeRecords(
    live.map((n) => shot(n, 'l')),
    archive(),
    order,
  )
  for await (const { spec } of records) seen.push(`${spec.url.slice(8, 9)}${spec.url.split('/').at(-1)}`)
  return seen
}

const cases: [string, number[], number[], string[]][] = [
  ['nothing', [], [], []],
  ['live alone', [3, 2], [], ['l3', 'l2']],
  ['archived alone', [], [3, 2], ['a3', 'a2']],
  ['both, newest first', [9, 5, 1], [7, 5, 3], ['l9', 'a7', 'l5', 'a3', 'l1']],
  ['one in both once, the live one', [5], [5], ['l5']],
]
for (const [what, live, archived, wanted] of cases) {
  t.test(`mergeRecords gives ${what}`, async (t) => t.strictSame(await merged(live, archived), wanted))
}

t.test('mergeRecords gives both, oldest first, when they come so', async (t) => {
  t.strictSame(await merged([1, 5, 9], [3, 5, 7], 'asc'), ['l1', 'a3', 'l5', 'a7', 'l9'])
})

t.test('buildListPage and buildLivePage list screenshots or videos', async (t) => {
  const mixed = shots.map((shot, i) => (i % 3 === 0 ? { ...shot, spec: { ...shot.spec, options: { format: 'gif' as const } } } : shot))
  async function* readMixed() {
    yield* mixed
  }
  const query = parseListQuery({})
  t.strictSame(toNumbers(await buildListPage(readMixed(), query)).is, [8, 7, 5, 4, 2, 1])
  t.strictSame(toNumbers(await buildListPage(readMixed(), { ...query, subject: 'video' })).is, [9, 6, 3, 0])
  t.strictSame(toNumbers(buildLivePage(mixed, { ...query, subject: 'video', format: 'mp4' })).is, [])
})
