import t from 'tap'
import { createdAtOf } from '../../../../crds/src/identifiers/ids.ts'
import type { CaptureResult } from '../../../../crds/src/kinds/screenshot.ts'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { toEcho, toOrderedSteps, toRecord } from '../../../../crds/src/records/record.ts'
import { aScreenshot, at, completedStatus, failedStatus, NOON } from '../../../support/fakes/builders.ts'

const linkTo = (key: string) => ({ url: `https://files.example.com/${key}`, expires: at(60).getTime() / 1000 })

t.test('toRecord of a completed Screenshot describes and links the picture', async (t) => {
  const shot = aScreenshot({ spec: { accountName: 'acme', options: { format: 'jpeg' } }, status: completedStatus() })
  const id = shot.metadata.name.replace('-', '_')
  t.match(toRecord(shot, linkTo), {
    id,
    url: 'https://example.com/',
    url_to_capture: 'https://example.com/',
    status: 'completed',
    storage_path: `users/acme/${id}.jpeg`,
    download_url: `https://files.example.com/users/acme/${id}.jpeg`,
    download_url_expires_at: at(60).toISOString(),
    created_at: NOON.toISOString(),
    started_at: at(1).toISOString(),
    completed_at: at(2).toISOString(),
    file_size_bytes: 1234,
    processing_duration_ms: 900,
    content_type: 'image/jpeg',
    metadata: { page_title: null, final_url: null, http_status: 200 },
    error: null,
    attempts: 1,
  })
})

t.test('toRecord of a failed Screenshot has an error and no file', async (t) => {
  const noFile = { storage_path: null, download_url: null, metadata: null }
  const record = toRecord(aScreenshot({ status: failedStatus() }), linkTo)
  t.match(record, { status: 'failed', error: { code: 'DNS_FAILED' }, completed_at: at(2).toISOString(), ...noFile })
})

t.test('toRecord of a pending or running Screenshot is pending and has no result', async (t) => {
  const noResult = { completed_at: null, download_url: null, file_size_bytes: null, error: null, metadata: null }
  for (const status of [undefined, { phase: 'Pending' as const }, { ...completedStatus(), phase: 'Running' as const }])
    t.match(toRecord({ ...aScreenshot(), ...(status ? { status } : {}) }, linkTo), { status: 'pending', ...noResult })
})

t.test('toRecord always has the same keys', async (t) => {
  const keys = Object.keys(toRecord(aScreenshot(), linkTo))
  for (const status of [completedStatus(), failedStatus()]) t.strictSame(Object.keys(toRecord(aScreenshot({ status }), linkTo)), keys)
})

t.test('toRecord ignores paths in the status, which a runner can write', async (t) => {
  const lying = completedStatus({ result: { ...completedStatus().result, storagePath: 'users/other/x.png', finalUrl: 'x' } as never })
  t.notMatch(JSON.stringify(toRecord(aScreenshot({ status: lying }), linkTo)), /users\/other/)
})

t.test('toRecord of an object with a custom name has the derived id', async (t) => {
  const record = toRecord(aScreenshot({ name: 'front-page' }), linkTo)
  t.equal(createdAtOf(record.id).toISOString(), NOON.toISOString())
})

const always = { viewport_width: 1920, viewport_height: 1080, format: 'png', full_page: false }

t.test('toEcho shows the options that differ from their defaults, and four more', async (t) => {
  t.strictSame(toEcho(undefined), always)
  t.strictSame(toEcho({ delay: 500, timeout: 30000, fullPage: true }), { ...always, full_page: true, delay: 500 })
})

t.test('toEcho cuts large options, but not selectors', async (t) => {
  const styles = `${'a'.repeat(63)}😀${'b'.repeat(1000)}`
  const { styles: shown, wait_for_selector: selector } = toEcho({ styles, waitForSelector: 'x'.repeat(500) })
  t.equal(shown, `${'a'.repeat(63)}\ufffd…`, 'no half of a character')
  t.equal(selector, 'x'.repeat(500))
  t.equal(toEcho({ scripts: 'x'.repeat(64) }).scripts, 'x'.repeat(64))
})

t.test('toRecord masks hidden options', async (t) => {
  const hiddenOptions = ['styles', 'basicAuthPassword', 'cookies']
  const { options } = toRecord(aScreenshot({ spec: { options: { delay: 5 }, hiddenOptions } }), linkTo)
  t.strictSame(options, { ...always, delay: 5, styles: '…', basic_auth_password: '***', cookies: '***' })
})

t.test('toRecord shows the estimated time of the creation, and ignores other texts in the annotation', async (t) => {
  const shown = (text: string) =>
    toRecord(aScreenshot({ metadata: { annotations: { 'tintype.dev/estimated-time': text } } }), () => undefined).estimated_time
  t.strictSame([shown('3-12s'), shown('<b>soon</b>'), shown('')], ['3-12s', '10-60s', '10-60s'])
})

t.test('toRecord lists the requested and stored files beside the picture', async (t) => {
  const artifacts = (['html', 'har'] as const).map((type) => ({ type, fileSizeBytes: 5, etag: 'x' }))
  const status = completedStatus({ result: { ...completedStatus().result, artifacts } })
  const shot = aScreenshot({ spec: { accountName: 'acme', options: { saveHtml: true, saveText: true } }, status })
  const id = shot.metadata.name.replace('-', '_')
  t.strictSame(toRecord(shot, linkTo).artifacts, [
    { type: 'html', download_url: `https://files.example.com/users/acme/${id}.html`, file_size_bytes: 5 },
  ])
  t.match(toRecord(shot, () => undefined).artifacts, [{ type: 'html', download_url: null }], 'an expired file has no link')
})

t.test('toRecord shows where the slices of a preview are', async (t) => {
  const slices = [{ offset: 0, length: 5, width: 896, height: 1_568, y: 0 }]
  const places = { scale: 0.7, width: 1_280, height: 5_000, shownWidth: 1_280, shownHeight: 2_240, sliceCount: 3, slices }
  const artifacts = (['preview', 'html'] as const).map((type) => ({ type, fileSizeBytes: 5, etag: 'x', preview: places }))
  const status = completedStatus({ result: { ...completedStatus().result, artifacts } })
  const shot = aScreenshot({ spec: { accountName: 'acme', options: { preview: 'fit', saveHtml: true } }, status })
  const id = shot.metadata.name.replace('-', '_')
  t.strictSame(toRecord(shot, linkTo).artifacts, [
    {
      ...{ type: 'preview', download_url: `https://files.example.com/users/acme/${id}.preview.webp`, file_size_bytes: 5 },
      preview: { scale: 0.7, width: 1_280, height: 5_000, shown_width: 1_280, shown_height: 2_240, slice_count: 3, slices },
    },
    { type: 'html', download_url: `https://files.example.com/users/acme/${id}.html`, file_size_bytes: 5 },
  ])
})

t.test('toRecord includes the comparison with the screenshot that the options name', async (t) => {
  const to = 'scr_6ybsne2r7m8z0q3x5v1c4h9kfd'
  const regions = [{ x: 1, y: 2, width: 3, height: 4 }]
  const comparison = {
    ...{ changed: true, changedPixels: 12, changedRatio: 0.5, sizeChanged: true, regions },
    ...{ regionCount: 1, droppedRegions: 2, rule: 'regions' as const, loads: 2 },
    ...{ engineChanged: true, textChanged: true, wordsAdded: ['99.50'], wordsRemoved: ['19.50'] },
  }
  const shotWith = (result: CaptureResult, options: CaptureOptions = { compareTo: to }) =>
    aScreenshot({ spec: { accountName: 'acme', options }, status: completedStatus({ result }) })
  const shot = shotWith({ comparison, artifacts: [{ type: 'diff', fileSizeBytes: 5, etag: 'x' }] })
  const id = shot.metadata.name.replace('-', '_')
  t.strictSame(toRecord(shot, linkTo).comparison, {
    ...{ to, changed: true, changed_ratio: 0.5, changed_pixels: 12, size_changed: true, regions },
    ...{ region_count: 1, dropped_regions: 2, rule: 'regions', loads: 2 },
    ...{ engine_changed: true, text_changed: true, words_added: ['99.50'], words_removed: ['19.50'] },
    ...{ diff_url: `https://files.example.com/users/acme/${id}.diff.png`, skipped: null },
  })
  t.strictSame(toRecord(shotWith({ comparison: { changed: false, skipped: 'blank' } }), linkTo).comparison, {
    ...{ to, changed: false, changed_ratio: null, changed_pixels: null, size_changed: null, regions: [] },
    ...{ region_count: null, dropped_regions: null, rule: null, loads: null },
    ...{ engine_changed: null, text_changed: null, words_added: [], words_removed: [] },
    ...{ diff_url: null, skipped: 'blank' },
  })
  t.equal(toRecord(shotWith({ comparison }, {}), linkTo).comparison, null, 'nothing to compare with')
  t.equal(toRecord(shotWith({}), linkTo).comparison, null)
})

t.test('toRecord includes the facts about the page in snake case', async (t) => {
  const status = completedStatus()
  const page = {
    imageSize: true,
    responseHeaders: { 'X-Mixed-Case': '1' },
    openGraph: { 'og:title': 'A title' },
    timings: { load: 5 },
    contentHash: { sha256: 'ab' },
    links: ['https://example.com/'],
  }
  const result = { ...status.result, width: 4, height: 3, timings: { navigate: 7 }, page }
  t.match(toRecord(aScreenshot({ status: { ...status, result } }), linkTo).metadata, {
    image_size: { width: 4, height: 3 },
    http_response_headers: { 'X-Mixed-Case': '1' },
    open_graph: { 'og:title': 'A title' },
    timings: { steps: { navigate: 7 }, page: { load: 5 } },
    content_hash: { sha256: 'ab' },
    links: ['https://example.com/'],
  })
})

t.test('steps have the order of the capture, although the API server sorts them by name', async (t) => {
  const stored = { browser: 1, navigate: 300, notePage: 2, screenshot: 90, settle: 40, upload: 12, unknownStep: 1 }
  const ordered = { browser: 1, navigate: 300, settle: 40, note_page: 2, screenshot: 90, upload: 12, unknown_step: 1 }
  t.strictSame(Object.entries(toOrderedSteps(stored)), Object.entries(ordered))
})
