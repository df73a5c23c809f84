import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { aService, fileOf, noContent, pageOf } from '../fake-world.ts'

// `tintype shot` of one page: pictures and videos.

const VIDEO = 'scr_6ybsne2r7m8z0q3x5v1c4h9kf0'

/** A service that captures everything at once, with further files. */
function aPictureService(t: Test) {
  const file = (extension: string): string => `/files/users/acme/scr_1.${extension}?signature=x`
  const artifacts = [
    { type: 'html', file_size_bytes: 5, download_url: file('html') },
    { type: 'thumbnail', file_size_bytes: 5, download_url: file('thumb.png') },
  ]
  const record = { id: 'scr_1', status: 'completed', format: 'png', artifacts, warnings: [], download_url: file('png'), error: null }
  const files = ['png', 'html', 'thumb.png'].map((extension) => [`GET ${file(extension).split('?')[0]}`, fileOf(extension)])
  return aService(t, { 'POST /screenshots': record, 'GET /screenshots/scr_1': record, ...Object.fromEntries(files) })
}

t.test('shot captures and charges nothing if its file cannot be written, or is named for another format', async (t) => {
  const { run, requests } = await aPictureService(t)
  const folder = t.testdir({})
  const formats = 'png, jpg, jpeg, webp, avif, pdf, mp4, webm, gif'
  for (const [words, message] of [
    [`a.example -o ${folder}/missing/a.png`, /the folder .*missing does not exist. Create it/],
    ['a.example -o page.png --format jpeg', /page.png is the name of a png file, but --format is jpeg/],
    [`a.example b.example -o ${folder}/one.png`, /one.png is the name of one picture. Several pictures need a folder: write -o one\/\./],
    [`a.example -o ${folder}/a.bmp`, `a.bmp has the extension .bmp, which is no format. Use one of ${formats}, or add --format.`],
  ] as const)
    t.match(await run(`shot ${words}`), { code: 2, stderr: message })
  t.strictSame(requests, [])
  t.notOk(existsSync(path.join(folder, 'one.png')))
})

t.test('shot accepts a file whose extension is no format if --format decides, or it has none, or is a folder', async (t) => {
  const { run } = await aPictureService(t)
  const folder = t.testdir({ 'shots.v2': {} })
  for (const words of ['a.bmp --format png', 'picture', 'shots.v2'])
    t.equal((await run(`shot a.example -o ${folder}/${words}`)).code, 0, words)
})

t.test('shot writes the files of --save-html and others beside the picture', async (t) => {
  const { run } = await aPictureService(t)
  const folder = t.testdir({})
  const { code, stderr } = await run(`shot a.example -o ${folder}/page.png --save-html`)
  t.equal(code, 0, stderr)
  for (const name of ['page.png', 'page.html', 'page.thumb.png']) t.ok(existsSync(path.join(folder, name)), name)
  t.match(stderr, /saved .*page\.html\nsaved .*page\.thumb\.png/)
})

t.test('shot says how to get the picture if its file cannot be written after the capture', async (t) => {
  const { run } = await aPictureService(t)
  const folder = t.testdir({ 'page.png.part': {} })
  const message = /The capture is scr_1. Run `tintype get scr_1 -o FILE` to download its file./
  t.match(await run(`shot a.example -o ${folder}/page.png`), { code: 1, stderr: message })
})

/** A service with one video. */
function aVideoService(t: Test, status = 'completed') {
  const record = {
    ...{ id: VIDEO, url: 'https://a.example/', status, options: {}, artifacts: [], warnings: [], format: 'mp4' },
    ...{ created_at: '2026-11-24T12:00:00Z', completed_at: '2026-11-24T12:00:09Z', started_at: null, width: 1280, height: 720 },
    ...{ file_size_bytes: 2_000_000, processing_duration_ms: 9_400, duration_ms: 5_000, fps: 30, frames: 150 },
    download_url: '/files/video.mp4',
    error: status === 'failed' ? { code: 'TIMEOUT', message: 'the page did not draw frame 7 of the video within 15000 ms' } : null,
  }
  return aService(t, {
    'POST /videos': { id: VIDEO, status: 'pending' },
    'GET /videos': pageOf(record),
    'GET /screenshots': pageOf(),
    [`GET /videos/${VIDEO}`]: record,
    [`DELETE /videos/${VIDEO}`]: noContent,
    'GET /files/video.mp4': fileOf('the frames'),
  })
}

t.test('shot -o page.mp4 records a video, because the extension decides the format', async (t) => {
  const { run, requests } = await aVideoService(t)
  const file = path.join(t.testdir({}), 'page.mp4')
  const { code, stderr } = await run(`shot a.example --video-duration 5 -o ${file}`)
  t.equal(code, 0, stderr)
  t.equal(readFileSync(file, 'utf8'), 'the frames')
  t.match(stderr, '1280 x 720 mp4, 5 s at 30 fps')
  t.match(requests, [/^POST \/videos /, `GET /videos/${VIDEO}`])
})

t.test('a failed video ends shot with exit code 1 and its message', async (t) => {
  const { run } = await aVideoService(t, 'failed')
  const file = path.join(t.testdir({}), 'never.webm')
  t.match(await run(`shot a.example --format webm -o ${file}`), { code: 1, stderr: 'the page did not draw frame 7' })
})

t.test('get, watch, delete and list find videos', async (t) => {
  const { run, requests } = await aVideoService(t)
  for (const [words, stdout] of [
    [`get ${VIDEO}`, /5 s at 30 fps/],
    [`watch ${VIDEO}`, /completed/],
    [`delete ${VIDEO}`, `deleted ${VIDEO}\n`],
    ['list --videos', VIDEO],
    ['list --format mp4', VIDEO],
    ['list', /^no screenshots\n$/],
  ] as const)
    t.match(await run(words), { code: 0, stdout }, words)
  t.ok(requests.includes(`DELETE /videos/${VIDEO}`))
  const unknown = 'scr_6ybsne2r7m8z0q3x5v1c4h9kf1'
  t.match(await run(`get ${unknown}`), { code: 1, stderr: /screenshot not found/ }, 'an id of nothing is an unknown screenshot')
})
