import { setImmediate as tick } from 'node:timers/promises'
import t from 'tap'
import { mergePatch } from '../../../../crds/client/patch.ts'
import { Resource } from '../../../../crds/client/resource.ts'
import { FencedError } from '../../../../crds/src/runtime/fence.ts'
import { aThing, sendJson, sendStatus, startScriptedServer, things, until } from '../client/scripted-server.ts'

t.test('a writer that has lost its lease sends no write to the API server, of whichever verb, and still reads', async (t) => {
  const { http, exchanges } = await startScriptedServer(t, ({ response }) => sendJson(response, aThing('one', 2)))
  const lease = { isHeld: true }
  const resource = new Resource(
    http.fenced(() => lease.isHeld),
    things,
  )
  const writes = {
    create: () => resource.create(aThing('one', 1)),
    replace: () => resource.replace(aThing('one', 1)),
    'replace status': () => resource.replaceStatus(aThing('one', 1)),
    patch: () => resource.patch('one', mergePatch({ spec: {} })),
    'patch status': () => resource.patch('one', mergePatch({ status: {} }), { subresource: 'status' }),
    delete: () => resource.delete('one', { uid: 'uid-one' }),
  }
  for (const write of Object.values(writes)) await write()
  t.equal(exchanges.length, Object.keys(writes).length, 'control: the leader writes')
  lease.isHeld = false
  for (const [verb, write] of Object.entries(writes)) await t.rejects(async () => void (await write()), FencedError, verb)
  t.equal(exchanges.length, Object.keys(writes).length, 'nothing arrived')
  await resource.get('one')
  await new Resource(http, things).replace(aThing('one', 1))
  t.equal(exchanges.length, Object.keys(writes).length + 2, 'reads and other writers, such as the election, continue')
})

t.test('a write that is repeated after an error is not sent again once the lease is lost', async (t) => {
  const lease = { isHeld: true }
  const { http, exchanges } = await startScriptedServer(t, ({ response }) => {
    lease.isHeld = false
    sendStatus(response, 503, 'ServiceUnavailable')
  })
  await t.rejects(
    new Resource(
      http.fenced(() => lease.isHeld),
      things,
    ).replace(aThing('one', 1)),
    FencedError,
  )
  t.equal(exchanges.length, 1)
})

t.test('a write that waits for a connection is not sent once the lease is lost', async (t) => {
  const { promise: release, resolve } = Promise.withResolvers<void>()
  const lease = { isHeld: true }
  const { http, exchanges } = await startScriptedServer(
    t,
    async ({ response }) => {
      await release
      sendJson(response, aThing('one', 2))
    },
    { connections: 1 },
  )
  const resource = new Resource(
    http.fenced(() => lease.isHeld),
    things,
  )
  const sent = resource.replace(aThing('one', 1))
  await until(() => exchanges.length === 1, 'the first write arrives')
  const waiting = t.rejects(resource.replace(aThing('two', 1)), FencedError)
  // The second write gets as far as the queue of the connection.
  await tick()
  lease.isHeld = false
  resolve()
  await Promise.all([sent, waiting])
  t.equal(exchanges.length, 1)
})
