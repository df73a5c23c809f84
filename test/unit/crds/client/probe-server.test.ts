import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { Gauge, Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { buildProbeServer } from '../../../../crds/client/probe-server.ts'

interface Probes {
  registry?: Registry
  problems?: string[]
  reasons?: string[]
}

/** Starts a server. Returns a function that sends a request line and returns the status and the body. */
async function start(t: Test, { registry = new Registry(), problems = [], reasons = [] }: Probes = {}) {
  const server = buildProbeServer({ registry, findProblems: () => problems, findUnready: () => reasons }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return async (target: string): Promise<{ status: number; body: string }> => {
    const socket = connect(port, '127.0.0.1')
    socket.end(`GET ${target} HTTP/1.1\r\nHost: probes\r\nConnection: close\r\n\r\n`)
    const text = Buffer.concat(await socket.toArray()).toString()
    return { status: Number(text.split(' ')[1]), body: text.split('\r\n\r\n')[1] ?? '' }
  }
}

t.test('a probe server reports problems, and metrics', async (t) => {
  const registry = new Registry()
  new Gauge({ name: 'queue_depth', help: 'Queue.', registers: [registry] }).set(7)
  const healthy = await start(t, { registry })
  t.strictSame(await healthy('/healthz?verbose'), { status: 200, body: 'ok\n' })
  t.strictSame(await healthy('/readyz'), { status: 200, body: 'ok\n' })
  t.match(await healthy('/metrics'), { status: 200, body: /queue_depth 7/ })
  t.match(await healthy('/other'), { status: 404 })
  const troubled = await start(t, { problems: ['a worker is stuck'], reasons: ['starting', 'no keys'] })
  t.strictSame(await troubled('/healthz'), { status: 503, body: 'a worker is stuck\n' })
  t.strictSame(await troubled('/readyz'), { status: 503, body: 'starting\nno keys\n' })
})

t.test('a request for no valid URL does not end a program', async (t) => {
  const call = await start(t)
  for (const target of ['//', '//[', 'http://[', '///%', '*']) t.equal((await call(target)).status, 404, target)
  t.equal((await call('/healthz')).status, 200)
})

t.test('a metric that cannot be read does not end a program', async (t) => {
  const registry = new Registry()
  const collect = () => {
    throw new Error('no cache')
  }
  new Gauge({ name: 'cache_objects', help: 'Objects.', registers: [registry], collect })
  t.equal((await (await start(t, { registry }))('/metrics')).status, 500)
})
