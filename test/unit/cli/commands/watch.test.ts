import t from 'tap'
import { runCli, sendError, sendJson, serve } from '../fake-world.ts'

const recordOf = (id: string, status: string) => ({
  ...{ id, url: `https://${id}.example/`, status, options: {}, artifacts: [], warnings: [], format: 'png' },
  ...{ created_at: '2026-11-27T12:00:00Z', completed_at: status === 'pending' ? null : '2026-11-27T12:00:09Z', started_at: null },
  ...{ width: null, height: null, file_size_bytes: null, processing_duration_ms: null, download_url: null },
  error: status === 'failed' ? { code: 'DNS_FAILED', message: 'the host does not exist' } : null,
})

t.test('watch goes on when somebody deletes a screenshot that it follows', async (t) => {
  let lists = 0
  const { url, stop } = await serve((request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    if (path.endsWith('/screenshots')) {
      const data = lists++ === 0 ? [recordOf('scr_gone', 'pending'), recordOf('scr_bad', 'pending'), recordOf('scr_good', 'pending')] : []
      sendJson(response, { success: true, data, pagination: { has_more: false, next_cursor: null } })
    } else if (path.endsWith('/videos')) sendJson(response, { success: true, data: [], pagination: { has_more: false, next_cursor: null } })
    else if (path.endsWith('/screenshots/scr_bad')) sendJson(response, recordOf('scr_bad', 'failed'))
    else if (path.endsWith('/screenshots/scr_good')) sendJson(response, recordOf('scr_good', 'completed'))
    else sendError(response, 404, 'NOT_FOUND', 'screenshot not found')
  })
  t.teardown(stop)
  const { code, stdout, stderr } = await runCli(['watch'], { environment: { TINTYPE_URL: url, TINTYPE_API_KEY: 'key' } })
  t.match(stdout, /scr_bad failed.*DNS_FAILED/)
  t.match(stdout, /scr_good completed/)
  t.equal(code, 1)
  t.equal(stderr, '2 ended, 1 failed, 1 deleted.\n')
})
