import t from 'tap'
import type { Capture, Screenshot, Video } from '../../../api-gateway/console/src/api/client.ts'
import { toCard } from '../../../api-gateway/console/src/list/card.ts'
import {
  describeEnd,
  keepSame,
  mergeNewest,
  replaceRecords,
  splitWaiting,
  toVisibleRange,
} from '../../../api-gateway/console/src/list/shown.ts'

// The endless list: what a refresh changes, and which part is drawn.

const listed = (...names: string[]) =>
  names.map((name) => ({ id: name.toLowerCase(), status: name === name.toLowerCase() ? 'pending' : 'completed' }))
const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id).join('')

t.test('a refresh adds new records at the top and updates known ones', async (t) => {
  const { items, isReset, endsWithPage } = mergeNewest(listed('b', 'c', 'd', 'e'), listed('a', 'B', 'C'), false)
  t.equal(idsOf(items), 'abcde')
  t.notOk(endsWithPage)
  t.notOk(isReset)
  t.equal(items[1]?.status, 'completed')
})

t.test('a refresh removes records that were deleted, and keeps those below the page', async (t) => {
  t.equal(idsOf(mergeNewest(listed('a', 'b', 'c', 'd', 'e'), listed('a', 'c', 'd'), false).items), 'acde')
  t.equal(idsOf(mergeNewest(listed('a', 'b', 'c'), listed('a', 'c'), true).items), 'ac', 'the whole list fits a page')
  t.equal(idsOf(mergeNewest(listed('a', 'b'), [], true).items), '')
})

t.test('records of a batch that appear late, between and behind known ones, are added', async (t) => {
  t.equal(idsOf(mergeNewest(listed('b', 'd', 'x', 'y'), listed('a', 'b', 'c', 'd', 'e'), false).items), 'abcdexy')
  const { items, endsWithPage } = mergeNewest(listed('a', 'b'), listed('a', 'b', 'c'), false)
  t.equal(idsOf(items), 'abc')
  t.ok(endsWithPage, 'the next page follows the one that was read')
})

t.test('a page without known records replaces the list, because records between are unknown', async (t) => {
  const merged = mergeNewest(listed('x', 'y'), listed('a', 'b'), false)
  t.match(merged, { isReset: true, endsWithPage: true })
  t.equal(idsOf(merged.items), 'ab')
  t.match(mergeNewest([], listed('a'), false), { isReset: true, endsWithPage: true })
})

t.test('no record is in the list twice, whatever moved', async (t) => {
  const names = 'abcdefgh'.split('')
  for (let from = 0; from < 6; from++)
    for (let length = 1; length < 4; length++) {
      const known = listed(...names.slice(2))
      const { items } = mergeNewest(known, listed(...names.slice(from, from + length)), false)
      t.equal(new Set(idsOf(items)).size, items.length, `${from} ${length}`)
    }
})

t.test('records that have not changed stay the same objects', async (t) => {
  const known = listed('a', 'b')
  const kept = keepSame(known, listed('x', 'A', 'b'))
  t.equal(idsOf(kept), 'xab')
  t.not(kept[1], known[0], 'it has ended')
  t.equal(kept[2], known[1])
})

t.test('records wait above those that are shown, also over several refreshes', async (t) => {
  const shown = listed('d', 'e')
  const first = splitWaiting(mergeNewest(shown, listed('b', 'c', 'd'), false).items, shown)
  t.strictSame([idsOf(first.waiting), idsOf(first.items)], ['bc', 'de'])
  const known = [...first.waiting, ...first.items]
  const second = splitWaiting(mergeNewest(known, listed('a', 'b'), false).items, first.items)
  t.strictSame([idsOf(second.waiting), idsOf(second.items)], ['abc', 'de'])
  t.strictSame(splitWaiting(listed('x'), shown), { waiting: [], items: listed('x') }, 'all that were shown were deleted')
})

t.test('single records are replaced and removed', async (t) => {
  const known = listed('a', 'b', 'c')
  t.equal(replaceRecords(known, new Map()), known)
  const changed = replaceRecords(
    known,
    new Map([
      ['a', { id: 'a', status: 'failed' }],
      ['b', undefined],
    ]),
  )
  t.strictSame(changed, [{ id: 'a', status: 'failed' }, known[2]])
})

t.test('the grid draws the rows of the window, and keeps the height of the others', async (t) => {
  const sizes = { height: 800, columns: 4, rowHeight: 100, count: 10_000 }
  t.strictSame(toVisibleRange({ ...sizes, above: -50 }), { start: 0, end: 44, before: 0, after: 248_900 })
  const middle = toVisibleRange({ ...sizes, above: 100_000 })
  t.strictSame(middle, { start: 3_988, end: 4_044, before: 99_700, after: 148_900 })
  for (const above of [-1e6, 0, 12_345, 250_000, 1e9]) {
    const { start, end, before, after } = toVisibleRange({ ...sizes, above })
    t.equal(before + Math.ceil((end - start) / 4) * 100 + after, 250_000, `${above}`)
    t.ok(end - start <= 60)
  }
  t.strictSame(toVisibleRange({ ...sizes, above: 0, count: 0 }), { start: 0, end: 0, before: 0, after: 0 })
  t.strictSame(toVisibleRange({ ...sizes, above: 0, count: 3 }), { start: 0, end: 3, before: 0, after: 0 })
})

t.test('the end of a list says how many captures it has, with separators', async (t) => {
  const state = { isLoading: false, hasMore: false, isFiltered: false }
  t.equal(describeEnd(1, 'videos', state), 'One video')
  t.equal(describeEnd(10_000, 'screenshots', state), '10,000 screenshots')
  t.equal(describeEnd(24, 'screenshots', { ...state, hasMore: true }), 'Loading…')
  t.equal(describeEnd(0, 'videos', { ...state, isFiltered: true }), 'No video matches the filters.')
  t.match(describeEnd(0, 'videos', state), /^No videos yet/)
})

// What cards of lists show of a record.

const LINK = 'https://shots.example.com/files/users/acme/scr_1.png?signature=x'
const aScreenshot = (more: Partial<Screenshot>): Capture =>
  ({
    ...{ id: 'scr_1', url: 'https://example.com/', status: 'completed', format: 'png', content_type: 'image/png' },
    ...{ created_at: '2026-11-25T10:00:00.000Z', download_url: LINK, artifacts: [], metadata: null, error: null, comparison: null },
    ...more,
  }) as unknown as Capture

t.test('a card shows the thumbnail, or the whole picture', async (t) => {
  t.match(toCard(aScreenshot({})), {
    preview: { kind: 'picture', url: 'files/users/acme/scr_1.png?signature=x' },
    title: 'https://example.com/',
  })
  const thumbnail = { type: 'thumbnail' as const, download_url: LINK.replace('png', 'thumb.webp'), file_size_bytes: 1 }
  t.match(toCard(aScreenshot({ artifacts: [thumbnail] })).preview, { kind: 'picture', url: /thumb\.webp/ })
  t.equal(toCard(aScreenshot({ download_url: null })).preview, undefined, 'the file has expired')
  t.match(toCard(aScreenshot({ content_type: 'application/pdf', format: 'pdf' })), { preview: undefined, note: 'pdf' })
})

t.test('cards of the same page differ in size, format and path', async (t) => {
  const detail = (more: Partial<Screenshot>) => toCard(aScreenshot(more)).detail
  t.equal(detail({ width: 1280, height: 720, url: 'https://example.com/a?b=1#c' }), '1280 × 720 png · /a?b=1#c')
  t.equal(detail({ width: null, height: null, format: 'pdf' }), 'pdf · /')
  t.equal(detail({ width: 1280, height: 720, url: 'about:html' }), '1280 × 720 png', 'markup has no path')
})

t.test('a card says why there is no picture', async (t) => {
  t.equal(toCard(aScreenshot({ status: 'pending', download_url: null })).note, 'Waiting')
  const error = { code: 'PAGE_CRASHED', message: 'the page crashed' } as NonNullable<Screenshot['error']>
  t.match(toCard(aScreenshot({ status: 'failed', error })), { note: 'PAGE_CRASHED', preview: undefined })
})

t.test('a card shows the change of a comparison, and the length of a video', async (t) => {
  const comparison = { changed: true, changed_ratio: 0.25 } as NonNullable<Screenshot['comparison']>
  t.equal(toCard(aScreenshot({ comparison })).notice, 'Changed 25.0 %')
  t.equal(toCard(aScreenshot({ comparison: { ...comparison, changed: false } })).notice, undefined)
  const metadata = { http_status: 404 } as NonNullable<Screenshot['metadata']>
  t.equal(toCard(aScreenshot({ metadata })).notice, 'HTTP 404', 'a completed capture of an error page')
  const video = { ...aScreenshot({ content_type: 'video/mp4', format: 'mp4' as never }), duration_ms: 2_500 } as unknown as Video
  t.match(toCard(video), { collection: 'videos', length: '2.50 s', preview: { kind: 'video' } })
})
