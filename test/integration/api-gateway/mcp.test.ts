import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import t from 'tap'
import { toId } from '../../../crds/src/identifiers/names.ts'
import { assertEvery } from '../../support/accepts.ts'
import { complete } from './runner-role.ts'
import { startWorld } from './world.ts'

// The official clients with two replicas, an API server and a store. The rules of the tools are in test/unit/api-gateway/mcp.

const world = await startWorld()
t.teardown(() => world.stop())
await world.createAccount('acme')
const key = await world.createKey({ accountName: 'acme' })
const replicas = await Promise.all([world.startGateway(), world.startGateway()])
const PICTURE = Buffer.from('bytes that stand for a picture')

const ended = new Set<string>()
let isStopped = false
t.teardown(() => {
  isStopped = true
})
/** Completes every capture. */
async function endCaptures(): Promise<void> {
  while (!isStopped) {
    const { items } = await world.screenshots.list({ limit: 500 }).catch(() => ({ items: [] }))
    const pending = items.filter(({ metadata: { name }, status }) => status?.phase === 'Pending' && !ended.has(name))
    for (const { metadata } of pending) {
      ended.add(metadata.name)
      await complete(toId(metadata.name), PICTURE, world)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
void endCaptures()

/** Requests that each replica has answered. */
const answered = new Map(replicas.map(({ url }) => [url, 0]))
let turn = 0
/** Sends each request to the next replica, as a balancer does, and to the other one if it is gone. */
async function balance(given: string | URL, init?: RequestInit): Promise<Response> {
  const { pathname } = new URL(given)
  const urls = [...answered.keys()]
  const order = turn++ % 2 === 0 ? urls : urls.toReversed()
  for (const url of order) {
    const response = await fetch(`${url}${pathname}`, init).catch((error: unknown) => {
      if (init?.signal?.aborted) throw error
      return undefined
    })
    if (!response) continue
    answered.set(url, (answered.get(url) ?? 0) + 1)
    return response
  }
  throw new Error('no replica responds')
}
const url = new URL('http://balancer.test/mcp')
const requestInit = { headers: { authorization: `Bearer ${key}` } }

interface Called {
  isError?: boolean
  structuredContent: { id: string; status: string; captures: unknown[] }
}

/** Every tool, one after the other. Returns the results. */
async function useTools(ask: (call: { name: string; arguments: object }) => Promise<unknown>): Promise<Called[]> {
  const call = (name: string, input: object) => ask({ name, arguments: input }) as Promise<Called>
  const captured = await call('capture', { url: 'https://example.com/' })
  const { id } = captured.structuredContent
  return [
    captured,
    await call('get', { id }),
    await call('read', { url: 'https://example.com/' }),
    await call('compare', { to: id }),
    await call('list', {}),
  ]
}

for (const [generation, client, transport] of [
  ['the current', new Client({ name: 'test', version: '1' }), new StreamableHTTPClientTransport(url, { requestInit, fetch: balance })],
  ['the older', new OlderClient({ name: 'test', version: '1' }), new OlderTransport(url, { requestInit, fetch: balance })],
] as const) {
  const ask = (call: { name: string; arguments: object }) => (client.callTool as (given: object) => Promise<unknown>)(call)
  t.test(`${generation} client uses every tool while each request goes to another replica`, async (t) => {
    await (client.connect as (given: unknown) => Promise<void>)(transport)
    t.teardown(() => client.close())
    assertEvery(t, await useTools(ask), ({ isError }) => isError !== true)
    assertEvery(t, [...answered.values()], (count) => count > 2, 'both replicas responded')
  })
}

t.test('a client goes on when a replica dies', async (t) => {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit, fetch: balance }))
  t.teardown(() => client.close())
  const ask = (call: { name: string; arguments: object }) => (client.callTool as (given: object) => Promise<unknown>)(call)
  assertEvery(t, await useTools(ask), ({ isError }) => isError !== true)
  replicas[0]?.process.kill('SIGKILL')
  assertEvery(t, await useTools(ask), ({ isError }) => isError !== true)
})
