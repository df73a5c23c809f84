import t, { type Test } from 'tap'
import { runCli, sendError, serve } from '../fake-world.ts'

/** A service that has these screenshots, and no videos. It keeps what it deletes. */
async function aService(t: Test, ids: readonly string[]) {
  const deleted: string[] = []
  const { url, stop } = await serve((request, response) => {
    const id = ids.find((known) => request.url?.endsWith(`/screenshots/${known}`))
    if (id === undefined) return sendError(response, 404, 'NOT_FOUND', 'no screenshot has this id')
    deleted.push(id)
    response.writeHead(204).end()
  })
  t.teardown(stop)
  return { deleted, environment: { TINTYPE_URL: url, TINTYPE_API_KEY: 'key' } }
}

t.test('delete goes on after a missing id, names each, and fails at the end', async (t) => {
  const { deleted, environment } = await aService(t, ['scr_b', 'scr_d'])
  t.strictSame(await runCli(['delete', 'scr_a', 'scr_b', 'scr_c', 'scr_d'], { environment }), {
    code: 1,
    stdout: 'deleted scr_b\ndeleted scr_d\n',
    stderr: 'screenshot or video scr_a not found\nscreenshot or video scr_c not found\n',
  })
  t.strictSame(deleted, ['scr_b', 'scr_d'])
})

t.test('delete - reads ids from standard input', async (t) => {
  const { environment } = await aService(t, ['scr_a', 'scr_b'])
  const input = '# old ones\nscr_a\r\n\n scr_b\n'
  t.strictSame(await runCli(['delete', '-'], { environment, input }), { code: 0, stdout: 'deleted scr_a\ndeleted scr_b\n', stderr: '' })
  t.match(await runCli(['delete', '-'], { environment, input: '\n' }), { code: 2, stderr: /the list has no ids. Write one on each line/ })
})
