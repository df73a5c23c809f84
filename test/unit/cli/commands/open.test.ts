import t from 'tap'
import { runCli, sendError, sendJson, serve } from '../fake-world.ts'

t.test('open prints a link that signs in to the console', async (t) => {
  const asked: string[] = []
  const { url, stop } = await serve((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`)
    sendJson(response, { success: true, data: { code: 'c', path: '/#code=c', expires_at: '2026-11-24T12:10:00.000Z' } }, 201)
  })
  t.teardown(stop)
  const environment = { TINTYPE_URL: `${url}/api/v1/`, TINTYPE_API_KEY: 'key' }
  t.strictSame(await runCli(['open'], { environment }), { code: 0, stdout: `${url}/#code=c\n`, stderr: '' })
  t.strictSame(asked, ['POST /console/codes Bearer key'])
  t.equal(JSON.parse((await runCli(['open', '--json'], { environment })).stdout).expires_at, '2026-11-24T12:10:00.000Z')
})

t.test('open names a service without a console, a refused key, and a service that is away', async (t) => {
  let code = 'NOT_FOUND'
  const { url, stop } = await serve((_, response) => sendError(response, code === 'NOT_FOUND' ? 404 : 401, code))
  t.teardown(stop)
  const run = (server: string) => runCli(['open'], { environment: { TINTYPE_URL: server, TINTYPE_API_KEY: 'key' } })
  t.match(await run(url), { code: 1, stderr: /has no web console: an administrator has switched it off/ })
  code = 'INVALID_API_KEY'
  t.match(await run(url), { code: 3, stderr: /refuses the API key/ })
  stop()
  t.match(await run(url), { code: 3, stderr: /cannot reach http:/ })
})
