import t from 'tap'
import { buildListPage, MAX_SCANNED } from '../../../../api-gateway/src/translate/list-page.ts'
import { parseListQuery } from '../../../../api-gateway/src/translate/list-query.ts'
import { newId } from '../../../../crds/src/ids.ts'
import type { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { aScreenshot } from '../fakes.ts'

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
const read = (after: string | undefined, limit: number): Screenshot[] => {
  const start = after === undefined ? 0 : shots.findIndex(({ metadata }) => metadata.name.replace('-', '_') > after)
  return start < 0 ? [] : shots.slice(start, start + limit)
}
const numbers = (query: Record<string, string>) => {
  const { items, hasMore, nextCursor } = buildListPage(read, parseListQuery(query))
  return { is: items.map(({ spec }) => Number(spec.url.split('/').at(-1))), hasMore, nextCursor }
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
]
for (const [query, is, hasMore] of pages) {
  t.test(`buildListPage for ${JSON.stringify(query)}`, async (t) => {
    const page = numbers(query)
    t.strictSame(page.is, is)
    t.equal(page.hasMore, hasMore)
    t.equal(page.nextCursor === null, !hasMore)
  })
}

t.test('buildListPage goes on where a page ended, through a filter', async (t) => {
  const first = numbers({ status: 'completed', limit: '2' })
  t.strictSame(numbers({ status: 'completed', limit: '2', cursor: first.nextCursor ?? '' }).is, [0])
})

t.test('buildListPage looks at ten thousand records and then hands over a cursor', async (t) => {
  let asked = 0
  const endless = (_after: string | undefined, limit: number) => {
    asked += limit
    return Array.from({ length: limit }, () => shots[0]!)
  }
  const page = buildListPage(endless, parseListQuery({ status: 'failed' }))
  t.equal(asked, MAX_SCANNED)
  t.strictSame(page, { items: [], hasMore: true, nextCursor: id(9) })
})

t.test('parseListQuery takes a larger limit as 500', async (t) => t.equal(parseListQuery({ limit: '9999' }).limit, 500))

const refused: Record<string, unknown>[] = [
  { limit: '0' },
  { limit: '-1' },
  { limit: '1.5' },
  { limit: ['1', '2'] },
  { offset: 'x' },
  { offset: '10001' },
  { offset: '1', cursor: id(1) },
  { cursor: 'scr_' },
  { status: '' },
  { status: 'completed,' },
  { status: 'Running' },
  { created_after: 'yesterday' },
  { created_before: '2026-13-01' },
  { format: 'gif' },
  { sort: 'url' },
  { constructor: 'x' },
]
for (const query of refused) {
  t.test(`parseListQuery refuses ${JSON.stringify(query)}`, async (t) => {
    t.throws(() => parseListQuery(query), { code: 'VALIDATION_ERROR' })
  })
}

t.test('parseListQuery tells every fault at once', async (t) => {
  try {
    parseListQuery({ limit: '0', statsu: 'failed', format: 'gif' })
    t.fail('it was refused')
  } catch (error) {
    const { details } = error as { details: { path: string; message: string }[] }
    t.strictSame(
      details.map(({ path }) => path),
      ['limit', 'statsu', 'format'],
    )
    t.match(details[1]?.message, 'did you mean status?')
  }
})
