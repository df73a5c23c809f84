import { text } from 'node:stream/consumers'
import t from 'tap'
import { runCli, sendJson, serve } from '../fake-world.ts'

t.test('keys create sends the link policy of its flags, and none without them', async (t) => {
  const bodies: unknown[] = []
  const { url, stop } = await serve(async (request, response) => {
    bodies.push(JSON.parse(await text(request)))
    sendJson(response, { success: true, data: { id: 'key_1', key: 'ttk_x', scopes: ['*'], expires_at: null } }, 201)
  })
  t.teardown(stop)
  const environment = { TINTYPE_URL: url, TINTYPE_API_KEY: 'key' }
  const create = (...flags: string[]) => runCli(['keys', 'create', 'links', ...flags], { environment })
  const hosts = ['--allowed-hosts', 'example.com', '--allowed-hosts', '*.example.com']
  t.match(await create(...hosts, '--allowed-options', 'viewport_width', '--allow-own-markup'), { code: 0, stdout: 'ttk_x\n' })
  await create('--no-allow-own-markup')
  await create()
  t.strictSame(bodies, [
    {
      name: 'links',
      link_policy: { allowed_hosts: ['example.com', '*.example.com'], allowed_options: ['viewport_width'], allow_own_markup: true },
    },
    { name: 'links', link_policy: { allow_own_markup: false } },
    { name: 'links' },
  ])
})

t.test('keys create reads scopes with commas, and says which scopes the key has and when it ends', async (t) => {
  const bodies: { scopes?: string[] }[] = []
  const { url, stop } = await serve(async (request, response) => {
    const body = JSON.parse(await text(request))
    bodies.push(body)
    const expires = body.expires_in_days ? '2026-12-24T12:00:00.000Z' : null
    sendJson(response, { success: true, data: { id: 'key_1', key: 'ttk_x', scopes: body.scopes ?? ['*'], expires_at: expires } }, 201)
  })
  t.teardown(stop)
  const environment = { TINTYPE_URL: url, TINTYPE_API_KEY: 'key' }
  const create = (...flags: string[]) => runCli(['keys', 'create', 'ci', ...flags], { environment })
  const flags = ['--scopes', 'screenshots:read, screenshots:write', '--scopes', 'usage:read', '--expires-in-days', '30']
  const { stdout, stderr } = await create(...flags)
  t.strictSame(bodies[0]?.scopes, ['screenshots:read', 'screenshots:write', 'usage:read'])
  t.equal(stdout, 'ttk_x\n')
  t.match(stderr, 'Scopes: screenshots:read, screenshots:write, usage:read. Expires: 2026-12-24 12:00 UTC.\n')
  t.match((await create()).stderr, 'Scopes: *. Expires: never.\n')
  t.match((await runCli(['keys', 'create', '--help'])).stdout, 'screenshots:read')
})
