import t from 'tap'
import type { Capture, Screenshot, Video } from '../../../api-gateway/console/src/api/captures.ts'
import { toCard } from '../../../api-gateway/console/src/list/card.ts'

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
