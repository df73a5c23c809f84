import t from 'tap'
import { runCli, sendJson, serve } from '../fake-world.ts'

const record = (number: number, code: string | null = null) => ({
  id: `scr_${number}`,
  url: 'https://example.com/',
  status: code === null ? 'completed' : 'failed',
  format: 'png',
  created_at: '2026-11-24T10:00:00.000Z',
  completed_at: '2026-11-24T10:00:02.000Z',
  file_size_bytes: 1_536,
  error: code === null ? null : { code, message: code },
})

/** Serves these records, and keeps the last query. */
async function aService(t: { teardown: (stop: () => void) => void }, records: readonly object[]) {
  const seen: { query: URLSearchParams } = { query: new URLSearchParams() }
  const { url, stop } = await serve((request, response) => {
    seen.query = new URL(request.url ?? '', 'http://localhost').searchParams
    const data = records.slice(0, Number(seen.query.get('limit')))
    sendJson(response, { success: true, data, pagination: { has_more: data.length < records.length, next_cursor: null } })
  })
  t.teardown(stop)
  return { seen, environment: { TINTYPE_URL: url, TINTYPE_API_KEY: 'key' } }
}

t.test('list says that there are more than it shows', async (t) => {
  const { environment } = await aService(
    t,
    Array.from({ length: 30 }, (_, number) => record(number)),
  )
  const { stdout, stderr } = await runCli(['list'], { environment })
  t.equal(stdout.trimEnd().split('\n').length, 21)
  t.equal(stderr, 'There are more than these 20 screenshots. Raise --limit, or filter with --status or --created-after.\n')
  t.match(await runCli(['list', '--limit', '30'], { environment }), { code: 0, stderr: '' })
})

t.test('list takes times as durations before now, as link --expires takes them after now', async (t) => {
  const { environment, seen } = await aService(t, [])
  await runCli(['list', '--created-after', '24h', '--created-before', '2026-11-24T09:00:00+01:00'], { environment })
  t.equal(seen.query.get('created_after'), '2026-11-23T12:00:00.000Z')
  t.equal(seen.query.get('created_before'), '2026-11-24T09:00:00+01:00')
  t.match(await runCli(['list', '--created-after', 'yesterday'], { environment }), {
    code: 2,
    stderr: /--created-after "yesterday" is no time. Use a duration such as 24h or 7d/,
  })
})

t.test('list --causes counts failures by cause', async (t) => {
  const { environment, seen } = await aService(t, [record(1, 'TIMEOUT'), record(2, 'DNS_FAILED'), record(3, 'TIMEOUT')])
  const { stdout } = await runCli(['list', '--causes'], { environment })
  t.equal(stdout, 'CAUSE       COUNT\nTIMEOUT     2\nDNS_FAILED  1\n')
  t.equal(seen.query.get('status'), 'failed')
  t.equal((await runCli(['list', '--causes', '--json'], { environment })).stdout.split('\n')[0], '{"code":"TIMEOUT","count":2}')
  t.match(await runCli(['list', '--causes', '--status', 'completed'], { environment }), { code: 2 })
})

t.test('watch says that nothing is pending', async (t) => {
  const { environment } = await aService(t, [])
  t.strictSame(await runCli(['watch'], { environment }), { code: 0, stdout: '', stderr: 'Nothing is pending.\n' })
})

t.test('list speaks of one screenshot in the singular', async (t) => {
  const { environment } = await aService(t, [record(1), record(2)])
  t.match((await runCli(['list', '--limit', '1'], { environment })).stderr, /^There are more screenshots than this one. Raise --limit/)
  t.match((await runCli(['list', '--limit', '1', '--videos'], { environment })).stderr, /^There are more videos than this one. /)
})

t.test('list --url without a result says that the URL must be exact', async (t) => {
  const { environment } = await aService(t, [])
  t.strictSame(await runCli(['list', '--url', 'docs.sites'], { environment }), {
    code: 0,
    stdout: 'no screenshots\n',
    stderr: '--url finds exactly this URL, such as https://example.com/docs, and no part of it.\n',
  })
  t.equal((await runCli(['list'], { environment })).stderr, '')
})
