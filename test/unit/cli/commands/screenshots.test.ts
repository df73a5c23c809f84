import t, { type Test } from 'tap'
import { aService, noContent, pageOf, runCli } from '../fake-world.ts'

// Commands for screenshots that exist: list, watch, delete.

const record = (id: string, status: string, code: string | null = null) => ({
  ...{ id, url: `https://${id}.example/`, status, options: {}, artifacts: [], warnings: [], format: 'png' },
  ...{ created_at: '2026-11-27T12:00:00Z', completed_at: status === 'pending' ? null : '2026-11-27T12:00:09Z', started_at: null },
  ...{ width: null, height: null, file_size_bytes: 1_536, processing_duration_ms: null, download_url: null },
  error: code === null ? null : { code, message: code },
})

/** A service with these screenshots or videos. */
async function aList(t: Test, records: readonly object[]) {
  const queries: URLSearchParams[] = []
  const list = ({ query }: { query: URLSearchParams }) => {
    queries.push(query)
    const data = records.slice(0, Number(query.get('limit')))
    return { success: true, data, pagination: { has_more: data.length < records.length, next_cursor: null } }
  }
  return { queries, ...(await aService(t, { 'GET /screenshots': list, 'GET /videos': list })) }
}

t.test('list says that there are more than it shows', async (t) => {
  const records = Array.from({ length: 30 }, (_, number) => record(`scr_${number}`, 'completed'))
  const { run } = await aList(t, records)
  const { stdout, stderr } = await run('list')
  t.equal(stdout.trimEnd().split('\n').length, 21)
  t.equal(stderr, 'There are more than these 20 screenshots. Raise --limit, or filter with --status or --created-after.\n')
  t.match(await run('list --limit 30'), { code: 0, stderr: /^$/ })
  t.match((await run('list --limit 1')).stderr, /^There are more screenshots than this one. Raise --limit/)
  t.match((await run('list --limit 1 --videos')).stderr, /^There are more videos than this one. /)
})

t.test('list takes times as durations before now, as link --expires takes them after now', async (t) => {
  const { run, queries } = await aList(t, [])
  await run('list --created-after 24h --created-before 2026-11-24T09:00:00+01:00')
  t.equal(queries[0]?.get('created_after'), '2026-11-23T12:00:00.000Z')
  t.equal(queries[0]?.get('created_before'), '2026-11-24T09:00:00+01:00')
  const message = /--created-after "yesterday" is no time. Use a duration such as 24h or 7d/
  t.match(await run('list --created-after yesterday'), { code: 2, stderr: message })
})

t.test('list --causes counts failures by cause', async (t) => {
  const causes = ['TIMEOUT', 'DNS_FAILED', 'TIMEOUT']
  const { run, queries } = await aList(
    t,
    causes.map((code) => record('scr_1', 'failed', code)),
  )
  t.equal((await run('list --causes')).stdout, 'CAUSE       COUNT\nTIMEOUT     2\nDNS_FAILED  1\n')
  t.equal(queries[0]?.get('status'), 'failed')
  t.match((await run('list --causes --json')).stdout, /^\{"code":"TIMEOUT","count":2\}\n/)
  t.match(await run('list --causes --status completed'), { code: 2 })
})

t.test('list --url without a result says that the URL must be exact', async (t) => {
  const { run } = await aList(t, [])
  const hint = '--url finds exactly this URL, such as https://example.com/docs, and no part of it.\n'
  t.strictSame(await run('list --url docs.sites'), { code: 0, stdout: 'no screenshots\n', stderr: hint })
  t.equal((await run('list')).stderr, '')
})

t.test('watch says that nothing is pending', async (t) => {
  const { run } = await aList(t, [])
  t.strictSame(await run('watch'), { code: 0, stdout: '', stderr: 'Nothing is pending.\n' })
})

t.test('watch goes on when somebody deletes a screenshot that it follows', async (t) => {
  const open = ['scr_gone', 'scr_bad', 'scr_good'].map((id) => record(id, 'pending'))
  const { run } = await aService(t, {
    'GET /screenshots': () => pageOf(...open.splice(0)),
    'GET /videos': pageOf(),
    'GET /screenshots/scr_bad': record('scr_bad', 'failed', 'DNS_FAILED'),
    'GET /screenshots/scr_good': record('scr_good', 'completed'),
  })
  const { code, stdout, stderr } = await run('watch')
  t.match(stdout, /scr_bad failed.*DNS_FAILED/)
  t.match(stdout, /scr_good completed/)
  t.strictSame({ code, stderr }, { code: 1, stderr: '2 ended, 1 failed, 1 deleted.\n' })
})

t.test('delete goes on after a missing id, names each, and fails at the end', async (t) => {
  const { run, requests } = await aService(t, { 'DELETE /screenshots/scr_b': noContent, 'DELETE /screenshots/scr_d': noContent })
  t.strictSame(await run('delete scr_a scr_b scr_c scr_d'), {
    code: 1,
    stdout: 'deleted scr_b\ndeleted scr_d\n',
    stderr: 'screenshot or video scr_a not found\nscreenshot or video scr_c not found\n',
  })
  t.ok(requests.includes('DELETE /screenshots/scr_b') && requests.includes('DELETE /screenshots/scr_d'))
})

t.test('delete - reads ids from standard input', async (t) => {
  const { environment } = await aService(t, { 'DELETE /screenshots/scr_a': noContent, 'DELETE /screenshots/scr_b': noContent })
  const deleteFrom = (input: string) => runCli(['delete', '-'], { environment, input })
  t.strictSame(await deleteFrom('# old ones\nscr_a\r\n\n scr_b\n'), { code: 0, stdout: 'deleted scr_a\ndeleted scr_b\n', stderr: '' })
  t.match(await deleteFrom('\n'), { code: 2, stderr: /the list has no ids. Write one on each line/ })
})
