import t from 'tap'
import { readQuery } from '../../../../../api-gateway/src/http/query.ts'
import { MAX_SCANNED } from '../../../../../api-gateway/src/resources/screenshots/list-page.ts'
import { findListQueryProblems, listQuery } from '../../../../../api-gateway/src/resources/screenshots/list-query.ts'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { aGateway, aScreenshot } from '../../fakes.ts'
import { listed } from '../../requests.ts'

const minute = (n: number): Date => new Date(Date.UTC(2026, 10, 21, 10, n))
const iso = (n: number): string => minute(n).toISOString()
const id = (n: number): string => newId('scr', minute(n), Buffer.alloc(10, n))
const batches = [0, 1].map((n) => newId('batch', minute(n), Buffer.alloc(10, n)))
const isEven = (n: number): boolean => n % 2 === 0

/** The record of minute n: odd ones are jpegs, the even ones of the first five completed, the oldest last. */
function shot(n: number, { spec }: { spec?: Partial<Screenshot['spec']> } = {}): Screenshot {
  const isCompleted = isEven(n) && n < 5
  const status = isCompleted ? { phase: 'Completed' as const, completionTime: iso(30 - n) } : { phase: 'Pending' as const }
  const made = aScreenshot({ id: id(n), url: `https://example.com/${n}`, status })
  const names = { batchId: batches[n % 2]!, externalIdentifier: `order-${n}` }
  return { ...made, spec: { ...made.spec, ...(isEven(n) ? {} : { options: { format: 'jpeg' } }), ...names, ...spec } }
}
const ALL = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]

/** A gateway with the records of these minutes. `page` lists the minutes of a page. */
async function withRecords(live: readonly Screenshot[], archived: readonly Screenshot[] = []) {
  const gateway = aGateway()
  for (const record of live) gateway.screenshots.put(record)
  await gateway.archive.add(archived)
  const page = async (query: string, path = '/screenshots') => {
    const response = await gateway.call('GET', `${path}?${query}`)
    const { has_more: hasMore, next_cursor: nextCursor } = response.body.pagination
    return { is: listed(response, 'url').map((url) => Number(url.split('/').at(-1))), hasMore, nextCursor }
  }
  /** All pages, one after the other. */
  const walk = async (query: string) => {
    const seen: number[] = []
    for (let cursor = ''; cursor !== null; ) {
      const { is, nextCursor } = await page(`${query}${cursor && `&cursor=${cursor}`}`)
      seen.push(...is)
      cursor = nextCursor
    }
    return seen
  }
  return { ...gateway, page, walk }
}
const shots = ALL.map((n) => shot(n))
const live = await withRecords(shots)
const mixed = await withRecords(
  ALL.filter((n) => n % 3 !== 0).map((n) => shot(n)),
  ALL.filter((n) => n % 3 === 0).map((n) => shot(n)),
)

const pages: [query: string, is: number[], hasMore: boolean][] = [
  ['', ALL, false],
  ['limit=3', [9, 8, 7], true],
  ['limit=10', ALL, false],
  ['limit=3&offset=8', [1, 0], false],
  [`limit=3&cursor=${id(7)}`, [6, 5, 4], true],
  [`cursor=${id(0)}`, [], false],
  ['status=completed', [4, 2, 0], false],
  ['status=completed&limit=2', [4, 2], true],
  ['status=completed,pending&limit=2&offset=1', [8, 7], true],
  ['status=failed', [], false],
  ['format=jpeg&limit=2', [9, 7], true],
  ['url=https://example.com/3', [3], false],
  [`batch_id=${batches[1]}`, [9, 7, 5, 3, 1], false],
  ['external_identifier=order-3', [3], false],
  [`created_after=${iso(6)}`, [9, 8, 7], false],
  [`created_before=${iso(2)}`, [1, 0], false],
  [`created_before=${iso(5)}&cursor=${id(2)}`, [1, 0], false],
  [`created_before=${iso(2)}&cursor=${id(5)}`, [1, 0], false],
  ['created_before=1960-01-01', [], false],
  [`created_after=${iso(3)}&created_before=${iso(6)}`, [5, 4], false],
  ['order=asc', ALL.toReversed(), false],
  ['order=asc&limit=2&offset=3', [3, 4], true],
  [`order=asc&cursor=${id(6)}`, [7, 8, 9], false],
  [`order=asc&created_after=${iso(2)}&limit=3`, [3, 4, 5], true],
  [`order=asc&created_after=${iso(2)}&cursor=${id(3)}&limit=3`, [4, 5, 6], true],
  [`order=asc&created_after=${iso(2)}&cursor=${id(1)}`, [3, 4, 5, 6, 7, 8, 9], false],
  [`order=asc&created_before=${iso(3)}`, [0, 1, 2], false],
  ['order=asc&status=completed&limit=2', [0, 2], true],
]
for (const [query, is, hasMore] of pages) {
  t.test(`GET /screenshots?${query} lists records, wherever they are`, async (t) => {
    for (const { page } of [live, mixed]) {
      const found = await page(query)
      t.strictSame([found.is, found.hasMore, found.nextCursor === null], [is, hasMore, !hasMore])
    }
  })
}

t.test('GET /screenshots goes on where a page ended, through a filter', async (t) => {
  for (const { walk } of [live, mixed]) t.strictSame(await walk('status=completed&limit=2'), [4, 2, 0])
})

t.test('GET /screenshots gives a record that is live and archived once, the live one', async (t) => {
  const { page } = await withRecords([shot(5)], [shot(5, { spec: { url: 'https://example.com/55' } })])
  t.strictSame((await page('')).is, [5])
})

t.test('GET /screenshots looks at ten thousand records and then hands over a cursor', async (t) => {
  const { page, screenshots } = await withRecords([])
  screenshots.page = (_account, _after, limit) => {
    t.equal(limit, MAX_SCANNED + 1)
    return Array.from({ length: limit }, () => shot(9))
  }
  t.strictSame(await page('status=failed'), { is: [], hasMore: true, nextCursor: id(9) })
})

const livePages: [query: string, is: number[]][] = [
  ['sort=completed_at&status=completed', [0, 2, 4]],
  ['sort=completed_at&order=asc&status=completed', [4, 2, 0]],
  ['sort=completed_at&order=asc&limit=4', [4, 2, 0, 9]],
  [`sort=completed_at&status=completed&created_after=${iso(2)}`, [4]],
]
for (const [query, is] of livePages) {
  t.test(`GET /screenshots?${query} lists live records`, async (t) => t.strictSame((await live.page(query)).is, is))
}

t.test('GET /screenshots by completion goes on where a page ended', async (t) => {
  for (const query of ['sort=completed_at', 'sort=completed_at&order=asc'])
    t.strictSame(await live.walk(`${query}&limit=3`), (await live.page(query)).is, query)
})

t.test('GET /screenshots refuses what live records alone cannot answer, and says what would do', async (t) => {
  for (const [query, message] of [
    ['sort=completed_at&order=asc', new RegExp(`^sort=completed_at .*created_after=${iso(9)}`)],
    ['offset=10001', /^an offset above 10000 /],
  ] as const)
    t.match(
      await mixed.call('GET', `/screenshots?${query}`),
      { status: 400, body: { error: { message, details: [{ path: query.split('=')[0] }] } } },
      query,
    )
  t.strictSame((await mixed.page(`sort=completed_at&created_after=${iso(9)}`)).is, [])
  t.strictSame((await mixed.page('offset=10000')).is, [])
  t.strictSame((await live.page('offset=10001')).is, [])
})

t.test('GET /screenshots and GET /videos list their own, by creation and by completion', async (t) => {
  const { page } = await withRecords(ALL.map((n) => shot(n, n % 3 === 0 ? { spec: { options: { format: 'gif' } } } : {})))
  for (const sort of ['', 'sort=completed_at&']) {
    t.strictSame((await page(sort)).is.toSorted(), [1, 2, 4, 5, 7, 8])
    t.strictSame((await page(sort, '/videos')).is.toSorted(), [0, 3, 6, 9])
    t.strictSame((await page(`${sort}format=mp4`, '/videos')).is, [])
  }
})

const parseListQuery = (query: Record<string, unknown>) => readQuery(query, listQuery, findListQueryProblems)

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

const refused = [
  'limit=0',
  'limit=-1',
  'limit=1.5',
  'limit=1&limit=2',
  'offset=x',
  'offset=1000000001',
  `offset=1&cursor=${id(1)}`,
  'cursor=scr_',
  'status=',
  'status=completed,',
  'status=Running',
  'created_after=yesterday',
  'created_after=2026-02-30',
  'created_before=2026-13-01',
  'created_before=2026-01-01 10:00',
  'format=gif',
  'sort=url',
  'order=newest',
  `sort=completed_at&cursor=${id(1)}`,
  `cursor=01763712003000.${id(1)}`,
  'constructor=x',
]
t.test('GET /screenshots refuses wrong queries, and reports every problem at once', async (t) => {
  for (const query of refused)
    t.match(await live.call('GET', `/screenshots?${query}`), { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } }, query)
  const { body } = await live.call('GET', '/screenshots?limit=0&statsu=failed&format=gif')
  t.match(body.error.details, [{ path: 'limit' }, { path: 'format' }, { path: 'statsu', message: /did you mean status\?/ }])
  t.equal(body.error.details.length, 3)
})
