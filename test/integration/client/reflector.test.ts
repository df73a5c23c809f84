import t, { type Test } from 'tap'
import { type ConfigMap, configMaps } from '../../../crds/client/core-resources.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { Reflector, type ReflectorEvent, type ReflectorOptions } from '../../../crds/client/reflector.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { eventually } from '../../support/eventually.ts'
import { startPlane, startProxy } from './plane.ts'

const plane = await startPlane(t, { own: true })

/** A reflector of one test's config maps, and a client that does not use its connections. */
function startReflector(t: Test, label: string, options: Partial<ReflectorOptions<ConfigMap>> & { server?: string } = {}) {
  const { server, ...rest } = options
  const http = plane.connect(t, server ? { server } : {})
  const events: ReflectorEvent<ConfigMap>[] = []
  const relists: string[] = []
  const ends: string[] = []
  let missed = 0
  const reflector = new Reflector({
    http,
    resource: configMaps,
    labelSelector: `test=${label}`,
    metrics: {
      onRelist: ({ reason }) => relists.push(reason),
      onWatchEnd: ({ reason }) => ends.push(reason),
      onMissed: ({ count }) => {
        missed += count
      },
    },
    ...rest,
  })
  reflector.addListener((event) => events.push(event))
  t.teardown(() => reflector.stop())
  reflector.start()
  const client = new Resource(plane.connect(t), configMaps)
  const create = (name: string) => client.create({ metadata: { name: `${label}-${name}`, labels: { test: label } }, data: { at: '1' } })
  const has = (name: string) => reflector.lister.has(`${plane.namespace}/${label}-${name}`)
  const reported = () => events.map(({ type, object }) => `${type} ${object.metadata.name.slice(label.length + 1)}`)
  return { reflector, client, create, has, reported, events, relists, ends, missed: () => missed }
}

t.test('reflector survives an API server that is unavailable for two seconds, and misses nothing', async (t) => {
  const { reflector, create, has, relists } = startReflector(t, 'restart')
  await reflector.whenSynced()
  await create('before')
  await eventually('the first event', async () => has('before'))
  await plane.restart(2_000)
  await create('after')
  await eventually('the event after the restart', async () => has('after'))
  t.ok(has('before'))
  t.ok(relists.filter((reason) => reason === 'initial').length === 1, `lists: ${relists.join()}`)
})

t.test('reflector catches up after deletions and a compaction during a disconnection', async (t) => {
  const proxy = await startProxy(t, plane.url)
  const { reflector, client, create, has, reported, relists } = startReflector(t, 'compact', { server: proxy.url })
  await reflector.whenSynced()
  for (const name of ['kept', 'changed', 'deleted', 'replaced']) await create(name)
  await eventually('the four', async () => reflector.lister.size === 4)
  const before = reflector.lister.get(`${plane.namespace}/compact-replaced`)?.metadata.uid
  proxy.refuse(true)
  proxy.cut()
  await client.patch('compact-changed', mergePatch({ data: { at: '2' } }))
  await client.delete('compact-deleted')
  await client.delete('compact-replaced')
  await create('replaced')
  await create('new')
  await plane.compact()
  await plane.restart()
  // Objects of other kinds advance the store, so that the old version is beyond the watch cache of the new API server.
  for (let n = 0; n < 5; n++) await client.create({ metadata: { name: `compact-noise-${n}` } })
  proxy.refuse(false)
  await eventually('the object created meanwhile', async () => has('new'))
  t.strictSame(relists, ['initial', 'expired'])
  t.strictSame(reported().slice(4).sort(), ['added new', 'deleted deleted', 'modified changed', 'modified replaced'])
  t.not(reflector.lister.get(`${plane.namespace}/compact-replaced`)?.metadata.uid, before)
  await create('afterwards')
  await eventually('an event of the new watch', async () => has('afterwards'))
})

t.test('reflector detects a connection that drops all traffic', async (t) => {
  const proxy = await startProxy(t, plane.url)
  const { reflector, create, has, ends } = startReflector(t, 'swallow', { server: proxy.url, idleMilliseconds: 1_500 })
  await reflector.whenSynced()
  await create('heard')
  await eventually('the first event', async () => has('heard'))
  proxy.swallow()
  await create('swallowed')
  await eventually('the event that was dropped', async () => has('swallowed'))
  t.ok(ends.includes('idle'), ends.join())
})

t.test('reflector continues after resets during many writes, and reports each change once', async (t) => {
  const proxy = await startProxy(t, plane.url)
  const { reflector, create, events, missed } = startReflector(t, 'storm', { server: proxy.url, rewatchMilliseconds: 50 })
  await reflector.whenSynced()
  const cutting = setInterval(() => proxy.cut(), 100)
  t.teardown(() => clearInterval(cutting))
  for (let n = 0; n < 150; n++) await create(String(n))
  clearInterval(cutting)
  await eventually('all objects', async () => reflector.lister.size === 150)
  t.equal(events.length, 150)
  t.equal(new Set(events.map(({ object }) => object.metadata.uid)).size, 150)
  t.equal(missed(), 0)
  const paged = startReflector(t, 'storm', { pageSize: 40 })
  await paged.reflector.whenSynced()
  t.equal(paged.reflector.lister.size, 150, 'the pages of a list have all of them')
})
