import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runCli, sendError, sendJson, serve } from '../fake-world.ts'

const VIDEO = 'scr_6ybsne2r7m8z0q3x5v1c4h9kf0'
const UNKNOWN = 'scr_6ybsne2r7m8z0q3x5v1c4h9kf1'

/** A service with one video. It keeps the method and path of each request. */
async function aService(t: Test, status = 'completed') {
  const requests: string[] = []
  const { url, stop } = await serve((request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    requests.push(`${request.method} ${path.replace(/^\/(api\/)?v1/, '')}`)
    const record = {
      ...{
        id: VIDEO,
        url: 'https://a.example/',
        status,
        options: {},
        artifacts: [],
        warnings: [],
        format: 'mp4',
        created_at: '2026-11-24T12:00:00Z',
      },
      ...{ completed_at: '2026-11-24T12:00:09Z', width: 1280, height: 720, file_size_bytes: 2_000_000, processing_duration_ms: 9_400 },
      ...{ duration_ms: 5_000, fps: 30, frames: 150, started_at: null, download_url: `${url}/files/video.mp4` },
      error: status === 'failed' ? { code: 'TIMEOUT', message: 'the page did not draw frame 7 of the video within 15000 ms' } : null,
    }
    if (path.endsWith('/files/video.mp4')) response.writeHead(200, { 'content-type': 'video/mp4' }).end('the frames')
    else if (path.endsWith(`/videos/${VIDEO}`) && request.method === 'DELETE') response.writeHead(204).end()
    else if (path.endsWith(`/videos/${VIDEO}`)) sendJson(response, record)
    else if (path.endsWith('/videos') && request.method === 'POST') sendJson(response, { id: VIDEO, status: 'pending' }, 202)
    else if (path.endsWith('/videos'))
      sendJson(response, { success: true, data: [record], pagination: { has_more: false, next_cursor: null } })
    else if (path.endsWith('/screenshots'))
      sendJson(response, { success: true, data: [], pagination: { has_more: false, next_cursor: null } })
    else sendError(response, 404, 'NOT_FOUND', path.includes('/screenshots/') ? 'screenshot not found' : 'video not found')
  })
  t.teardown(stop)
  return { requests, environment: { TINTYPE_URL: url, TINTYPE_API_KEY: 'key' } }
}

t.test('shot -o page.mp4 records a video, because the extension decides the format', async (t) => {
  const { requests, environment } = await aService(t)
  const file = join(mkdtempSync(join(tmpdir(), 'tintype-cli-')), 'page.mp4')
  const { code, stderr } = await runCli(['shot', 'a.example', '--video-duration', '5', '-o', file], { environment })
  t.equal(code, 0, stderr)
  t.equal(readFileSync(file, 'utf8'), 'the frames')
  t.match(stderr, '1280 x 720 mp4, 5 s at 30 fps')
  t.strictSame([...new Set(requests.slice(0, 2))], ['POST /videos', `GET /videos/${VIDEO}`])
})

t.test('a failed video ends shot with exit code 1 and its message', async (t) => {
  const { environment } = await aService(t, 'failed')
  const { code, stderr } = await runCli(['shot', 'a.example', '--format', 'webm', '-o', join(tmpdir(), 'never.webm')], { environment })
  t.equal(code, 1)
  t.match(stderr, 'the page did not draw frame 7')
})

t.test('get, watch and delete find a video by its id', async (t) => {
  const { requests, environment } = await aService(t)
  t.match(await runCli(['get', VIDEO], { environment }), { code: 0, stdout: /5 s at 30 fps/ })
  t.match(await runCli(['watch', VIDEO], { environment }), { code: 0, stdout: /completed/ })
  t.match(await runCli(['delete', VIDEO], { environment }), { code: 0, stdout: `deleted ${VIDEO}\n` })
  t.ok(requests.includes(`DELETE /videos/${VIDEO}`))
})

t.test('an id that belongs to nothing is reported as an unknown screenshot', async (t) => {
  const { environment } = await aService(t)
  t.match(await runCli(['get', UNKNOWN], { environment }), { code: 1, stderr: /screenshot not found/ })
})

t.test('list --videos and list --format mp4 list videos', async (t) => {
  const { environment } = await aService(t)
  for (const flags of [['--videos'], ['--format', 'mp4']])
    t.match(await runCli(['list', ...flags], { environment }), { code: 0, stdout: new RegExp(VIDEO) })
  t.match(await runCli(['list'], { environment }), { code: 0, stdout: 'no screenshots\n' })
})
