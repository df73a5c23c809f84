import t from 'tap'
import { configMaps } from '../../../crds/client/core-resources.ts'
import { Reflector } from '../../../crds/client/reflector.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { startPlane, startProxy } from './plane.ts'

const plane = await startPlane(t)

t.test('client stays within its pool for 300 concurrent requests, plus one connection per watch', async (t) => {
  const proxy = await startProxy(t, plane.url)
  const http = plane.connect(t, { server: proxy.url, connections: 8 })
  const reflectors = ['a', 'b', 'c'].map((label) => new Reflector({ http, resource: configMaps, labelSelector: `watch=${label}` }))
  t.teardown(() => Promise.all(reflectors.map((reflector) => reflector.stop())))
  for (const reflector of reflectors) reflector.start()
  await Promise.all(reflectors.map((reflector) => reflector.whenSynced()))
  const client = new Resource(http, configMaps)
  await Promise.all(Array.from({ length: 300 }, (_, n) => client.create({ metadata: { name: `pool-${n}` } })))
  t.ok(proxy.connections() <= 8 + 3, `${proxy.connections()} connections`)
})

t.test('client uses one connection after the other, and replaces those that are reset or do not respond', async (t) => {
  const proxy = await startProxy(t, plane.url)
  const client = new Resource(plane.connect(t, { server: proxy.url, attemptTimeoutMilliseconds: 500 }), configMaps)
  await client.create({ metadata: { name: 'kept' } })
  for (let n = 0; n < 20; n++) await client.get('kept')
  t.ok(proxy.connections() <= 2, `${proxy.connections()} connections`)
  proxy.cut()
  t.equal((await client.get('kept')).metadata.name, 'kept')
  proxy.swallow()
  t.equal((await client.get('kept')).metadata.name, 'kept')
})
