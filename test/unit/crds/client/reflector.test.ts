import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { silentLog } from '../../../../crds/client/log.ts'
import { Reflector, type ReflectorEvent, type ReflectorOptions } from '../../../../crds/client/reflector.ts'
import { aThing, type Exchange, sendJson, sendStatus, startScriptedServer, type Thing, things, until } from './scripted-server.ts'

type Answer = (response: ServerResponse, exchange: Exchange) => void

const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`
const bookmark = (version: number) => line('BOOKMARK', { metadata: { resourceVersion: String(version) } })
const errorEvent = (code: number, reason: string) => line('ERROR', { kind: 'Status', code, reason, message: reason })

/** Responds with a list of these objects at this version. */
const list =
  (version: number, ...items: Thing[]): Answer =>
  (response) =>
    sendJson(response, { metadata: { resourceVersion: String(version) }, items })

/** A watch that sends these lines and stays open. */
const open =
  (...lines: string[]): Answer =>
  (response) => {
    response.writeHead(200)
    response.flushHeaders()
    for (const text of lines) response.write(text)
  }

/** A watch that sends these lines and ends. */
const closed =
  (...lines: string[]): Answer =>
  (response) =>
    response.end(lines.join(''))

/** A watch that sends this text and loses its connection. */
const torn =
  (text: string): Answer =>
  (response) => {
    response.writeHead(200)
    response.write(text, () => response.destroy())
  }

/** Sends no response. */
const silence: Answer = (response) => response.destroy()

const refusing =
  (code: number, reason: string): Answer =>
  (response) =>
    sendStatus(response, code, reason)

/** A reflector and a server with scripted responses to lists and watches. The last response of each script repeats. */
async function startReflector(
  t: Test,
  { lists, watches, ...options }: { lists: Answer[]; watches: Answer[] } & Partial<ReflectorOptions<Thing>>,
) {
  const listed: Exchange[] = []
  const watched: Exchange[] = []
  const server = await startScriptedServer(t, (exchange) => {
    const [log, script] = exchange.query.get('watch') === 'true' ? [watched, watches] : [listed, lists]
    log.push(exchange)
    script[Math.min(log.length, script.length) - 1]?.(exchange.response, exchange)
  })
  const ends: string[] = []
  const relists: string[] = []
  let missed = 0
  const reflector = new Reflector<Thing>({
    http: server.http,
    resource: things,
    rewatchMilliseconds: 0,
    backoffMilliseconds: [1, 5],
    metrics: {
      onWatchEnd: ({ reason }) => ends.push(reason),
      onRelist: ({ reason }) => relists.push(reason),
      onMissed: ({ count }) => {
        missed += count
      },
    },
    ...options,
  })
  const events: ReflectorEvent<Thing>[] = []
  reflector.addListener((event) => events.push(event))
  t.teardown(() => reflector.stop())
  reflector.start()
  const told = () =>
    events.map(({ type, object, source }) => `${type} ${object.metadata.name}@${object.metadata.resourceVersion} by ${source}`)
  const has = (name: string) => reflector.lister.has(`default/${name}`)
  return { reflector, server, listed, watched, ends, relists, events, told, has, missed: () => missed }
}

t.test('reflector lists in pages, then watches from the list’s version with bookmarks and a time limit', async (t) => {
  const { reflector, listed, watched, told } = await startReflector(t, {
    lists: [list(10, aThing('a', 5))],
    watches: [open(line('ADDED', aThing('b', 11)), line('MODIFIED', aThing('a', 12)), line('DELETED', aThing('b', 13)))],
    labelSelector: 'x=y',
    fieldSelector: 'status.phase=Running',
  })
  await reflector.whenSynced()
  await until(() => told().length === 4, 'four events')
  t.strictSame(told(), ['added a@5 by list', 'added b@11 by watch', 'modified a@12 by watch', 'deleted b@13 by watch'])
  t.strictSame(Object.fromEntries(listed[0]?.query ?? []), {
    limit: '10',
    labelSelector: 'x=y',
    fieldSelector: 'status.phase=Running',
  })
  const query = Object.fromEntries(watched[0]?.query ?? [])
  t.match(query, { resourceVersion: '10', allowWatchBookmarks: 'true', labelSelector: 'x=y', fieldSelector: 'status.phase=Running' })
  t.ok(Number(query.timeoutSeconds) >= 30 && Number(query.timeoutSeconds) <= 40, `timeoutSeconds is ${query.timeoutSeconds}`)
})

t.test('reflector is synced only after the last page of the list', async (t) => {
  let sendSecondPage = () => {}
  const { reflector, listed, watched } = await startReflector(t, {
    lists: [
      (response) => sendJson(response, { metadata: { resourceVersion: '10', continue: 'more' }, items: [aThing('a', 5)] }),
      (response) => {
        sendSecondPage = () => list(10, aThing('b', 6))(response, {} as Exchange)
      },
    ],
    watches: [open()],
  })
  await until(() => listed.length === 2, 'the second page is asked for')
  t.equal(reflector.hasSynced, false)
  t.strictSame(Object.fromEntries(listed[1]?.query ?? []), { limit: '40', continue: 'more' })
  sendSecondPage()
  await reflector.whenSynced()
  t.equal(reflector.hasSynced, true)
  t.equal(reflector.lister.size, 2)
  await until(() => watched.length === 1, 'the watch begins')
})

for (const { name, expire } of [
  { name: 'an ERROR event', expire: closed(errorEvent(410, 'Expired')) },
  { name: 'an HTTP status', expire: refusing(410, 'Expired') },
]) {
  t.test(`reflector lists consistently and catches up after a 410 by ${name}`, async (t) => {
    const { listed, watched, told, relists } = await startReflector(t, {
      lists: [list(10, aThing('a', 5), aThing('b', 6), aThing('c', 7)), list(30, aThing('a', 5), aThing('b', 20), aThing('d', 25))],
      watches: [expire, open()],
    })
    await until(() => watched.length === 2, 'a second watch')
    t.equal(listed[1]?.query.get('resourceVersion'), null)
    t.equal(watched[1]?.query.get('resourceVersion'), '30')
    t.strictSame(told().slice(3), ['modified b@20 by list', 'added d@25 by list', 'deleted c@7 by list'])
    t.strictSame(relists, ['initial', 'expired'])
  })
}

t.test('reflector restarts a list that expires between its pages, and finally lists without a limit', async (t) => {
  const firstPage: Answer = (response) =>
    sendJson(response, { metadata: { resourceVersion: '10', continue: 'more' }, items: [aThing('a', 5)] })
  const expired = refusing(410, 'Expired')
  const { reflector, listed } = await startReflector(t, {
    lists: [firstPage, expired, firstPage, expired, list(20, aThing('a', 5))],
    watches: [open()],
  })
  await reflector.whenSynced()
  t.strictSame(
    listed.map(({ query }) => [query.get('resourceVersion'), query.get('limit')]),
    [
      [null, '10'],
      [null, '40'],
      [null, '10'],
      [null, '40'],
      [null, null],
    ],
  )
})

t.test('reflector continues from the last bookmark when a watch ends', async (t) => {
  const { watched, listed } = await startReflector(t, { lists: [list(10)], watches: [closed(bookmark(50)), open()] })
  await until(() => watched.length === 2, 'a second watch')
  t.equal(watched[1]?.query.get('resourceVersion'), '50')
  t.equal(listed.length, 1)
})

t.test('reflector continues after the last complete line when a connection is reset', async (t) => {
  const cut = line('ADDED', aThing('b', 12))
  const { watched, told, ends } = await startReflector(t, {
    lists: [list(10)],
    watches: [torn(line('ADDED', aThing('a', 11)) + cut.slice(0, 30)), open(cut)],
  })
  await until(() => told().length === 2, 'both events')
  t.strictSame(told(), ['added a@11 by watch', 'added b@12 by watch'])
  t.equal(watched[1]?.query.get('resourceVersion'), '11')
  t.strictSame(ends, ['failed'])
})

t.test('reflector abandons a silent watch and continues from its version', async (t) => {
  const { watched, ends, has } = await startReflector(t, {
    lists: [list(10)],
    watches: [open(bookmark(15)), open(line('ADDED', aThing('a', 16)))],
    idleMilliseconds: 100,
  })
  await until(() => has('a'), 'the event of the second watch')
  t.equal(watched[1]?.query.get('resourceVersion'), '15')
  t.equal(ends[0], 'idle')
})

t.test('reflector abandons a dead connection at the end of the watch’s duration', async (t) => {
  const { watched, ends, has } = await startReflector(t, {
    lists: [list(10)],
    watches: [open(bookmark(15)), open(line('ADDED', aThing('a', 16)))],
    watchSeconds: [1, 1],
    overdueMilliseconds: 50,
  })
  await until(() => has('a'), 'the event of the second watch')
  t.equal(watched[1]?.query.get('resourceVersion'), '15')
  t.equal(ends[0], 'idle')
})

t.test('reflector keeps a watch that sends only bookmarks', async (t) => {
  let beats = 0
  const { watched } = await startReflector(t, {
    lists: [list(10)],
    watches: [
      (response) => {
        const timer = setInterval(() => response.write(bookmark(10 + ++beats)), 50)
        response.on('close', () => clearInterval(timer))
      },
    ],
    idleMilliseconds: 2_000,
  })
  await until(() => beats === 50, 'more than the idle time')
  t.equal(watched.length, 1)
})

t.test('reflector emits no event twice when bookmarks and events are repeated', async (t) => {
  const { watched, told } = await startReflector(t, {
    lists: [list(10, aThing('a', 5))],
    watches: [
      closed(
        line('ADDED', aThing('a', 5)),
        bookmark(12),
        bookmark(12),
        bookmark(11),
        line('MODIFIED', aThing('a', 5)),
        line('DELETED', aThing('b', 9)),
      ),
      open(),
    ],
  })
  await until(() => watched.length === 2, 'a second watch')
  t.strictSame(told(), ['added a@5 by list'])
  t.equal(watched[1]?.query.get('resourceVersion'), '12')
})

t.test('reflector watches again after ERROR events other than 410, without a list', async (t) => {
  const { listed, watched, ends } = await startReflector(t, {
    lists: [list(10)],
    watches: [closed(bookmark(20), errorEvent(500, 'InternalError')), open()],
  })
  await until(() => watched.length === 2, 'a second watch')
  t.equal(watched[1]?.query.get('resourceVersion'), '20')
  t.equal(listed.length, 1)
  t.strictSame(ends, ['failed'])
})

t.test('reflector watches again after a malformed line, and lists if the second watch is malformed too', async (t) => {
  const { relists, watched, has } = await startReflector(t, {
    lists: [list(10), list(30, aThing('a', 25))],
    watches: [closed('{"type":\n'), closed('<html>\n'), open()],
  })
  await until(() => has('a'), 'what the list brings')
  await until(() => watched.length === 3, 'a third watch')
  t.strictSame(relists, ['initial', 'malformed'])
})

t.test('reflector retries while the server refuses everything, and syncs when it recovers', async (t) => {
  const away = refusing(503, 'ServiceUnavailable')
  const { reflector, listed } = await startReflector(t, {
    lists: [away, away, silence, refusing(403, 'Forbidden'), list(10, aThing('a', 5))],
    watches: [away, open()],
  })
  await reflector.whenSynced()
  t.equal(listed.length, 5)
  t.equal(reflector.lister.size, 1)
})

/** A reflector with the longest random waits, and the waits so far. */
async function startWaiting(t: Test, watches: Answer[]) {
  const waits: number[] = []
  const note = (fields: object) => {
    if ('waitMilliseconds' in fields) waits.push(Number(fields.waitMilliseconds))
  }
  const log = { ...silentLog, warn: note }
  const backoff = { backoffMilliseconds: [8, 100_000], unreachableCapMilliseconds: 20, random: () => 1 } as const
  await startReflector(t, { lists: [list(5, aThing('a', 3))], watches, log, ...backoff })
  return waits
}
t.test('reflector lists soon after a 410, even after long waits', async (t) => {
  const overloaded = refusing(503, 'ServiceUnavailable')
  const waits = await startWaiting(t, [overloaded, overloaded, overloaded, refusing(410, 'Expired'), open()])
  await until(() => waits.length === 4, 'the wait after the 410')
  t.strictSame(waits, [4, 12, 36, 4])
})

t.test('reflector starts with short waits again when an unreachable server responds but has not loaded its roles', async (t) => {
  const waits = await startWaiting(t, [silence, silence, silence, silence, refusing(403, 'Forbidden'), refusing(403, 'Forbidden'), open()])
  await until(() => waits.length === 6, 'the waits after the answers')
  t.strictSame(waits, [4, 12, 20, 20, 4, 12])
})

t.test('reflector counts changes that the watch missed and a periodic list finds', async (t) => {
  const { relists, missed, told } = await startReflector(t, {
    lists: [list(10, aThing('a', 5), aThing('b', 6)), list(20, aThing('a', 15), aThing('c', 12))],
    watches: [closed(bookmark(20)), open()],
    relistMilliseconds: 0,
  })
  await until(() => relists.length === 2, 'the check')
  t.strictSame(relists, ['initial', 'safety'])
  t.equal(missed(), 3)
  t.strictSame(told().slice(2), ['modified a@15 by list', 'added c@12 by list', 'deleted b@6 by list'])
})

t.test('reflector does not count changes after the end of the watch as missed', async (t) => {
  const { relists, missed } = await startReflector(t, {
    lists: [list(10, aThing('a', 5), aThing('b', 6)), list(30, aThing('a', 25))],
    watches: [closed(bookmark(20)), open()],
    relistMilliseconds: 0,
  })
  await until(() => relists.length === 2, 'the check')
  t.equal(missed(), 0)
})

t.test('reflector starts over when the API server’s versions start again', async (t) => {
  const { told, watched } = await startReflector(t, {
    lists: [list(1_000, aThing('a', 900), aThing('b', 950)), list(20, aThing('a', 7))],
    watches: [closed(errorEvent(410, 'Expired')), open()],
  })
  await until(() => watched.length === 2, 'a second watch')
  t.strictSame(told().slice(2), ['modified a@7 by list', 'deleted b@950 by list'])
  t.equal(watched[1]?.query.get('resourceVersion'), '20')
})

t.test('reflector lists consistently when its version is newer than the API server’s', async (t) => {
  const details = { causes: [{ reason: 'ResourceVersionTooLarge' }] }
  const { relists, listed } = await startReflector(t, {
    lists: [list(1_000), list(20)],
    watches: [
      (response) => sendJson(response, { kind: 'Status', code: 504, reason: 'Timeout', message: 'Too large', details }, 504),
      open(),
    ],
  })
  await until(() => relists.length === 2, 'the second list')
  t.equal(listed[1]?.query.get('resourceVersion'), null)
})

t.test('reflector stops during a list and never watches', async (t) => {
  const { reflector, listed, watched, events } = await startReflector(t, { lists: [() => {}], watches: [open()] })
  await until(() => listed.length === 1, 'the list is asked for')
  await reflector.stop()
  t.equal(watched.length, 0)
  t.equal(events.length, 0)
})

t.test('reflector stops during a watch, a backoff and before its start', async (t) => {
  const watching = await startReflector(t, { lists: [list(10)], watches: [open()] })
  await until(() => watching.watched.length === 1, 'the watch')
  await watching.reflector.stop()
  t.strictSame(watching.ends, [])
  const waiting = await startReflector(t, {
    lists: [refusing(503, 'Away')],
    watches: [],
    backoffMilliseconds: [60_000, 60_000],
  })
  await until(() => waiting.ends.length === 1, 'the backoff')
  await waiting.reflector.stop()
  const idle = new Reflector({ http: waiting.server.http, resource: things })
  await idle.stop()
  t.equal(idle.hasSynced, false)
})

t.test('reflector serves the other listeners when one throws', async (t) => {
  const { reflector, events, watched } = await startReflector(t, {
    lists: [list(10)],
    watches: [closed(line('ADDED', aThing('a', 11))), open()],
  })
  const later: string[] = []
  reflector.addListener(() => {
    throw new Error('a bug')
  })
  reflector.addListener(({ object }) => later.push(object.metadata.name))
  await until(() => watched.length === 2, 'a second watch')
  t.equal(events.length, 1)
  t.strictSame(later, ['a'])
})

t.test('reflector sends existing objects to a late listener, and nothing to a removed one', async (t) => {
  const { reflector, watched } = await startReflector(t, {
    lists: [list(10, aThing('a', 5))],
    watches: [open(line('ADDED', aThing('b', 11)))],
  })
  await until(() => reflector.lister.size === 2, 'both objects')
  const told: string[] = []
  const remove = reflector.addListener(({ type, object }) => told.push(`${type} ${object.metadata.name}`))
  remove()
  watched[0]?.response.write(line('ADDED', aThing('c', 12)))
  await until(() => reflector.lister.size === 3, 'the third object')
  t.strictSame(told.sort(), ['added a', 'added b'])
})

t.test('reflector shows its own write immediately and ignores older events', async (t) => {
  const { reflector, watched, told, has } = await startReflector(t, { lists: [list(10, aThing('a', 5))], watches: [open()] })
  await reflector.whenSynced()
  await until(() => watched.length === 1, 'the watch')
  reflector.noteWritten(aThing('a', 12))
  reflector.noteWritten(aThing('b', 14))
  t.ok(has('b'))
  const watch = watched[0]?.response
  for (const text of [
    line('MODIFIED', aThing('a', 11)),
    line('MODIFIED', aThing('a', 12)),
    line('ADDED', aThing('b', 14)),
    line('ADDED', aThing('c', 15)),
  ])
    watch?.write(text)
  await until(() => has('c'), 'the last event')
  t.strictSame(told(), ['added a@5 by list', 'modified a@12 by write', 'added b@14 by write', 'added c@15 by watch'])
})

t.test('reflector does not restore an object that was deleted before the response to its own write', async (t) => {
  const { reflector, watched, told, has } = await startReflector(t, { lists: [list(10, aThing('a', 5))], watches: [open()] })
  await reflector.whenSynced()
  await until(() => watched.length === 1, 'the watch')
  watched[0]?.response.write(line('MODIFIED', aThing('a', 12)) + line('DELETED', aThing('a', 13)))
  await until(() => !has('a'), 'the deletion')
  reflector.noteWritten(aThing('a', 12))
  t.notOk(has('a'))
  reflector.noteWritten(aThing('a', 14, { uid: 'another' }))
  t.ok(has('a'), 'another one of its name is there')
  t.strictSame(told(), ['added a@5 by list', 'modified a@12 by watch', 'deleted a@13 by watch', 'added a@14 by write'])
})

t.test('reflector keeps its own write if a list is older', async (t) => {
  const { reflector, relists, has } = await startReflector(t, {
    lists: [list(10), list(30)],
    watches: [(response) => void setTimeout(() => closed(errorEvent(410, 'Expired'))(response, {} as Exchange), 20), open()],
  })
  await reflector.whenSynced()
  reflector.noteWritten(aThing('young', 31))
  await until(() => relists.length === 2, 'the second list')
  t.ok(has('young'))
})

t.test('reflector hides an object that this process has deleted, despite late events', async (t) => {
  const { reflector, watched, told, has } = await startReflector(t, { lists: [list(10, aThing('a', 5))], watches: [open()] })
  await reflector.whenSynced()
  await until(() => watched.length === 1, 'the watch')
  reflector.noteDeleted(aThing('a', 5))
  t.notOk(has('a'))
  const again = aThing('a', 14, { uid: 'another' })
  for (const text of [line('MODIFIED', aThing('a', 12)), line('DELETED', aThing('a', 13)), line('ADDED', again)])
    watched[0]?.response.write(text)
  await until(() => has('a'), 'the next object of that name')
  t.strictSame(told(), ['added a@5 by list', 'deleted a@5 by write', 'added a@14 by watch'])
})

t.test('reflector keeps a new object when an old object with the same name is deleted', async (t) => {
  const { reflector, watched, has } = await startReflector(t, { lists: [list(10, aThing('a', 5))], watches: [open()] })
  await reflector.whenSynced()
  await until(() => watched.length === 1, 'the watch')
  reflector.noteWritten(aThing('a', 14, { uid: 'another' }))
  watched[0]?.response.write(line('DELETED', aThing('a', 13)) + line('ADDED', aThing('z', 15)))
  await until(() => has('z'), 'the last event')
  t.equal(reflector.lister.get('default/a')?.metadata.uid, 'another')
})

t.test('reflector adds apiVersion and kind to every object, and keeps what a cache needs', async (t) => {
  const heavy = aThing('a', 5)
  const { reflector } = await startReflector(t, {
    lists: [list(10, { ...heavy, metadata: { ...heavy.metadata, managedFields: [{}] } })],
    watches: [open()],
  })
  await reflector.whenSynced()
  t.strictSame(reflector.lister.get('default/a'), { ...heavy, apiVersion: 'test.dev/v1', kind: 'Thing' })
})

t.test('reflector reports the time of the last response and of the last activity', async (t) => {
  const before = Date.now()
  const { reflector, ends } = await startReflector(t, { lists: [list(10)], watches: [refusing(503, 'Away')] })
  await reflector.whenSynced()
  const heard = reflector.lastSeenAt
  t.ok(heard >= before)
  await until(() => ends.length > 3 && Date.now() > heard, 'some failures')
  await until(() => reflector.lastActiveAt > heard, 'activity')
  t.equal(reflector.lastSeenAt, heard)
})

t.test('whenSynced rejects when the caller stops waiting', async (t) => {
  const { reflector } = await startReflector(t, { lists: [() => {}], watches: [] })
  const caller = new AbortController()
  const waiting = reflector.whenSynced(caller.signal)
  caller.abort(new Error('enough'))
  await t.rejects(waiting, { message: 'enough' })
})
