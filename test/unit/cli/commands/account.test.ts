import { text } from 'node:stream/consumers'
import t from 'tap'
import { runCli, sendJson, serve } from '../fake-world.ts'

t.test('keys create sends the link policy of its flags, and none without them', async (t) => {
  const bodies: unknown[] = []
  const { url, stop } = await serve(async (request, response) => {
    bodies.push(JSON.parse(await text(request)))
    sendJson(response, { success: true, data: { id: 'key_1', key: 'ttk_x' } }, 201)
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
