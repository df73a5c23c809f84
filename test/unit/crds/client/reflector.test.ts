import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { silentLog } from '../../../../crds/client/log.ts'
import { Reflector, type ReflectorEvent, type ReflectorOptions } from '../../../../crds/client/reflector.ts'
import { assertEvery } from '../../../support/accepts.ts'
import { type Exchange, sendJson, sendStatus, startScriptedServer, until } from './scripted-server.ts'
import { aThing, type Thing, things } from './things.ts'

// Each fault of docs/adr/0038 once. test/integration/client has compaction, restarts and lost connections of a real API server.

type Answer = (response: ServerResponse) => void

const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`
const bookmark = (version: number) => line('BOOKMARK', { metadata: { resourceVersion: String(version) } })
const errorEvent = (code: number, reason: string) => line('ERROR', { kind: 'Status', code, reason, message: reason })

/** Responds with a list of these objects at this version. */
function list(version: number, ...items: Thing[]): Answer {
  return (response) => sendJson(response, { metadata: { resourceVersion: String(version) }, items })
}

/** A watch that sends these lines and stays open. */
function open(...lines: string[]): Answer {
  return (response) => {
    response.writeHead(200).flushHeaders()
    response.write(lines.join(''))
  }
}

/** A watch that sends these lines and ends. */
function closed(...lines: string[]): Answer {
  return (response) => response.end(lines.join(''))
}

/** A watch that sends this text and loses its connection. */
function torn(text: string): Answer {
  return (response) => void response.writeHead(200).write(text, () => response.destroy())
}

function refusing(code: number, reason: string): Answer {
  return (response) => sendStatus(response, code, reason)
}

/** Sends no response. */
const silence: Answer = (response) => response.destroy()

type Script = { lists: Answer[]; watches: Answer[] } & Partial<ReflectorOptions<Thing>>

/** A reflector and a server with scripted responses to lists and watches. The last response of each script repeats. */
async function startReflector(t: Test, { lists, watches, ...options }: Script) {
  const listed: Exchange[] = []
  const watched: Exchange[] = []
  const server = await startScriptedServer(t, (exchange) => {
    const [log, script] = exchange.query.get('watch') === 'true' ? [watched, watches] : [listed, lists]
    log.push(exchange)
    script[Math.min(log.length, script.length) - 1]?.(exchange.response)
  })
  const ends: string[] = []
  const relists: string[] = []
  const missed: number[] = []
  const reflector = new Reflector<Thing>({
    http: server.http,
    resource: things,
    rewatchMilliseconds: 0,
    backoffMilliseconds: [1, 5],
    metrics: {
      onWatchEnd: ({ reason }) => ends.push(reason),
      onRelist: ({ reason }) => relists.push(reason),
      onMissed: ({ count }) => missed.push(count),
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
  return { reflector, server, listed, watched, ends, relists, events, told, has, missed }
}

/** A reflector that has listed `a` at version 5 and watches from version 10. `send` sends lines of the watch. */
async function startWatching(t: Test) {
  const started = await startReflector(t, { lists: [list(10, aThing('a', 5))], watches: [open()] })
  await until(() => started.watched.length === 1, 'the watch')
  const send = (...lines: string[]) => void started.watched[0]?.response.write(lines.join(''))
  return { ...started, send }
}

t.test('reflector lists in pages, then watches from the list’s version with bookmarks and a time limit', async (t) => {
  const selectors = { labelSelector: 'x=y', fieldSelector: 'status.phase=Running' }
  const { reflector, listed, watched, told } = await startReflector(t, {
    lists: [list(10, aThing('a', 5))],
    watches: [open(line('ADDED', aThing('b', 11)), line('MODIFIED', aThing('a', 12)), line('DELETED', aThing('b', 13)))],
    ...selectors,
  })
  await reflector.whenSynced()
  await until(() => told().length === 4, 'four events')
  t.strictSame(told(), ['added a@5 by list', 'added b@11 by watch', 'modified a@12 by watch', 'deleted b@13 by watch'])
  t.strictSame(Object.fromEntries(listed[0]?.query ?? []), { limit: '10', ...selectors })
  const query = Object.fromEntries(watched[0]?.query ?? [])
  t.match(query, { resourceVersion: '10', allowWatchBookmarks: 'true', ...selectors })
  t.ok(Number(query.timeoutSeconds) >= 30 && Number(query.timeoutSeconds) <= 40, `timeoutSeconds is ${query.timeoutSeconds}`)
})

const firstPage: Answer = (response) =>
  sendJson(response, { metadata: { resourceVersion: '10', continue: 'more' }, items: [aThing('a', 5)] })

t.test('reflector is synced only after the last page of the list', async (t) => {
  let sendSecondPage = () => {}
  const secondPage: Answer = (response) => {
    sendSecondPage = () => list(10, aThing('b', 6))(response)
  }
  const { reflector, listed, watched } = await startReflector(t, { lists: [firstPage, secondPage], watches: [open()] })
  await until(() => listed.length === 2, 'the second page is asked for')
  t.equal(reflector.hasSynced, false)
  t.strictSame(Object.fromEntries(listed[1]?.query ?? []), { limit: '40', continue: 'more' })
  sendSecondPage()
  await reflector.whenSynced()
  t.equal(reflector.hasSynced, true)
  t.equal(reflector.lister.size, 2)
  await until(() => watched.length === 1, 'the watch begins')
})

t.test('reflector restarts a list that expires between its pages, and finally lists without a limit', async (t) => {
  const expired = refusing(410, 'Expired')
  const lists = [firstPage, expired, firstPage, expired, list(20, aThing('a', 5))]
  const { reflector, listed } = await startReflector(t, { lists, watches: [open()] })
  await reflector.whenSynced()
  const limits = listed.map(({ query }) => query.get('limit'))
  t.strictSame(limits, ['10', '40', '10', '40', null])
  assertEvery(t, listed, ({ query }) => !query.has('resourceVersion'))
})

/** A fault of the first watches, and what follows: the versions of the next watches, why watches ended, the lists, and all events. */
type Fault = Partial<Script> & { name: string; watches: Answer[]; versions: string[]; ends: string[]; relists?: string[]; told?: string[] }

const expiry = {
  lists: [list(10, aThing('a', 5), aThing('b', 6), aThing('c', 7)), list(30, aThing('a', 5), aThing('b', 20), aThing('d', 25))],
  ...{ versions: ['30'], ends: ['expired'], relists: ['initial', 'expired'] },
  told: [
    ...['added a@5 by list', 'added b@6 by list', 'added c@7 by list'],
    ...['modified b@20 by list', 'added d@25 by list', 'deleted c@7 by list'],
  ],
}
const addedB = line('ADDED', aThing('b', 12))
const newerThanServer: Answer = (response) => {
  const details = { causes: [{ reason: 'ResourceVersionTooLarge' }] }
  sendJson(response, { kind: 'Status', code: 504, reason: 'Timeout', message: 'Too large', details }, 504)
}
const faults: Fault[] = [
  { name: 'the end of a watch', watches: [closed(bookmark(50))], versions: ['50'], ends: ['ended'] },
  {
    name: 'a reset connection, after the last complete line',
    watches: [torn(line('ADDED', aThing('a', 11)) + addedB.slice(0, 30)), closed(addedB)],
    ...{ versions: ['11', '12'], ends: ['failed', 'ended'], told: ['added a@11 by watch', 'added b@12 by watch'] },
  },
  { name: 'a silent watch', watches: [open(bookmark(15))], idleMilliseconds: 100, versions: ['15'], ends: ['idle'] },
  {
    name: 'a dead connection at the end of the watch’s duration',
    watches: [open(bookmark(15))],
    ...{ watchSeconds: [1, 1], overdueMilliseconds: 50, versions: ['15'], ends: ['idle'] },
  },
  {
    name: 'events and bookmarks that are repeated, without an event',
    lists: [list(10, aThing('a', 5))],
    watches: [
      closed(line('ADDED', aThing('a', 5)), bookmark(12), bookmark(12), bookmark(11)),
      closed(line('MODIFIED', aThing('a', 5)), line('DELETED', aThing('b', 9))),
    ],
    ...{ versions: ['12', '12'], ends: ['ended', 'ended'], told: ['added a@5 by list'] },
  },
  {
    name: 'an ERROR event other than 410, without a list',
    watches: [closed(bookmark(20), errorEvent(500, 'InternalError'))],
    ...{ versions: ['20'], ends: ['failed'] },
  },
  {
    name: 'a refused watch, without a list',
    watches: [refusing(500, 'InternalError'), refusing(429, 'TooMany')],
    ...{ versions: ['10', '10'], ends: ['failed', 'failed'] },
  },
  {
    name: 'malformed lines, with a list if the second watch is malformed too',
    lists: [list(10), list(30, aThing('a', 25))],
    watches: [closed('{"type":\n'), closed('<html>\n')],
    ...{ versions: ['10', '30'], ends: ['malformed', 'malformed'], relists: ['initial', 'malformed'], told: ['added a@25 by list'] },
  },
  { name: 'a 410 by an ERROR event, with a consistent list', watches: [closed(errorEvent(410, 'Expired'))], ...expiry },
  { name: 'a 410 by an HTTP status, with a consistent list', watches: [refusing(410, 'Expired')], ...expiry },
  {
    name: 'versions of the API server that start again',
    lists: [list(1_000, aThing('a', 900), aThing('b', 950)), list(20, aThing('a', 7))],
    watches: [closed(errorEvent(410, 'Expired'))],
    ...{ versions: ['20'], ends: ['expired'], relists: ['initial', 'expired'] },
    told: ['added a@900 by list', 'added b@950 by list', 'modified a@7 by list', 'deleted b@950 by list'],
  },
  {
    name: 'a version that is newer than the API server’s, with a consistent list',
    lists: [list(1_000), list(20)],
    watches: [newerThanServer],
    ...{ versions: ['20'], ends: ['expired'], relists: ['initial', 'expired'] },
  },
]
for (const { name, lists = [list(10)], watches, versions, ends, relists = ['initial'], told = [], ...options } of faults) {
  t.test(`reflector continues after ${name}`, async (t) => {
    const seen = await startReflector(t, { lists, watches: [...watches, open()], ...options })
    await until(() => seen.watched.length > watches.length, 'the next watch')
    const started = seen.watched.slice(1, watches.length + 1).map(({ query }) => query.get('resourceVersion'))
    t.strictSame(started, versions)
    t.strictSame(seen.ends.slice(0, watches.length), ends)
    t.strictSame(seen.relists, relists)
    t.strictSame(seen.told(), told)
    assertEvery(t, seen.listed, ({ query }) => !query.has('resourceVersion'))
  })
}

t.test('reflector keeps a watch that sends only bookmarks', async (t) => {
  let beats = 0
  const beating: Answer = (response) => {
    const timer = setInterval(() => response.write(bookmark(10 + ++beats)), 25)
    response.on('close', () => clearInterval(timer))
  }
  const { watched } = await startReflector(t, { lists: [list(10)], watches: [beating], idleMilliseconds: 1_000 })
  await until(() => beats === 50, 'more than the idle time')
  t.equal(watched.length, 1)
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

const overloaded = refusing(503, 'ServiceUnavailable')
const forbidden = refusing(403, 'Forbidden')
for (const { name, watches, longest } of [
  {
    name: 'lists soon after a 410, even after long waits',
    watches: [overloaded, overloaded, overloaded, refusing(410, 'Expired')],
    longest: [4, 12, 36, 4],
  },
  {
    name: 'starts with short waits again when an unreachable server responds but has not loaded its roles',
    watches: [silence, silence, silence, silence, forbidden, forbidden],
    longest: [4, 12, 20, 20, 4, 12],
  },
]) {
  t.test(`reflector ${name}`, async (t) => {
    const waits: number[] = []
    const warn = (fields: object) => void ('waitMilliseconds' in fields && waits.push(Number(fields.waitMilliseconds)))
    const backoff = { backoffMilliseconds: [8, 100_000], unreachableCapMilliseconds: 20, random: () => 1 } as const
    const log = { ...silentLog, warn }
    await startReflector(t, { lists: [list(5, aThing('a', 3))], watches: [...watches, open()], log, ...backoff })
    await until(() => waits.length === watches.length, 'the last wait')
    t.strictSame(waits, longest)
  })
}

for (const { name, second, changes, count } of [
  {
    name: 'counts changes that the watch missed and a periodic list finds',
    second: list(20, aThing('a', 15), aThing('c', 12)),
    changes: ['modified a@15 by list', 'added c@12 by list', 'deleted b@6 by list'],
    count: [3],
  },
  {
    name: 'does not count changes after the end of the watch as missed',
    second: list(30, aThing('a', 25)),
    changes: ['modified a@25 by list', 'deleted b@6 by list'],
    count: [],
  },
]) {
  t.test(`reflector ${name}`, async (t) => {
    const lists = [list(10, aThing('a', 5), aThing('b', 6)), second]
    const seen = await startReflector(t, { lists, watches: [closed(bookmark(20)), open()], relistMilliseconds: 0 })
    await until(() => seen.relists.length === 2, 'the check')
    t.strictSame(seen.relists, ['initial', 'safety'])
    t.strictSame(seen.told().slice(2), changes)
    t.strictSame(seen.missed, count)
  })
}

t.test('reflector stops during a list, a watch, a backoff and before its start', async (t) => {
  const listing = await startReflector(t, { lists: [() => {}], watches: [open()] })
  await until(() => listing.listed.length === 1, 'the list is asked for')
  await listing.reflector.stop()
  t.equal(listing.watched.length, 0)
  t.equal(listing.events.length, 0)
  const watching = await startWatching(t)
  await watching.reflector.stop()
  t.strictSame(watching.ends, [])
  const waiting = await startReflector(t, { lists: [refusing(503, 'Away')], watches: [], backoffMilliseconds: [60_000, 60_000] })
  await until(() => waiting.ends.length === 1, 'the backoff')
  await waiting.reflector.stop()
  const idle = new Reflector({ http: waiting.server.http, resource: things })
  await idle.stop()
  t.equal(idle.hasSynced, false)
})

t.test('reflector serves the other listeners when one throws, existing objects to a late one, and nothing to a removed one', async (t) => {
  const { reflector, send, events } = await startWatching(t)
  const told: string[] = []
  const listen = (name: string) => reflector.addListener(({ type, object }) => told.push(`${name}: ${type} ${object.metadata.name}`))
  reflector.addListener(() => {
    throw new Error('a bug')
  })
  listen('late')
  const remove = listen('removed')
  remove()
  send(line('ADDED', aThing('b', 11)))
  await until(() => told.length === 3, 'the new object')
  t.strictSame(told, ['late: added a', 'removed: added a', 'late: added b'])
  t.equal(events.length, 2)
})

t.test('reflector shows its own write immediately and ignores older events', async (t) => {
  const { reflector, send, told, has } = await startWatching(t)
  reflector.noteWritten(aThing('a', 12))
  reflector.noteWritten(aThing('b', 14))
  t.ok(has('b'))
  send(line('MODIFIED', aThing('a', 11)), line('MODIFIED', aThing('a', 12)), line('ADDED', aThing('b', 14)), line('ADDED', aThing('c', 15)))
  await until(() => has('c'), 'the last event')
  t.strictSame(told(), ['added a@5 by list', 'modified a@12 by write', 'added b@14 by write', 'added c@15 by watch'])
})

t.test('reflector does not restore an object that was deleted before the response to its own write', async (t) => {
  const { reflector, send, told, has } = await startWatching(t)
  send(line('MODIFIED', aThing('a', 12)), line('DELETED', aThing('a', 13)))
  await until(() => !has('a'), 'the deletion')
  reflector.noteWritten(aThing('a', 12))
  t.notOk(has('a'))
  reflector.noteWritten(aThing('a', 14, { uid: 'another' }))
  t.ok(has('a'), 'another one of its name is there')
  t.strictSame(told(), ['added a@5 by list', 'modified a@12 by watch', 'deleted a@13 by watch', 'added a@14 by write'])
})

t.test('reflector keeps its own write if a list is older', async (t) => {
  let expire = () => {}
  const waiting: Answer = (response) => {
    expire = () => closed(errorEvent(410, 'Expired'))(response)
  }
  const { reflector, watched, relists, has } = await startReflector(t, { lists: [list(10), list(30)], watches: [waiting, open()] })
  await until(() => watched.length === 1, 'the watch')
  reflector.noteWritten(aThing('young', 31))
  expire()
  await until(() => relists.length === 2, 'the second list')
  t.ok(has('young'))
})

t.test('reflector hides an object that this process has deleted, despite late events', async (t) => {
  const { reflector, send, told, has } = await startWatching(t)
  reflector.noteDeleted(aThing('a', 5))
  t.notOk(has('a'))
  const again = line('ADDED', aThing('a', 14, { uid: 'another' }))
  send(line('MODIFIED', aThing('a', 12)), line('DELETED', aThing('a', 13)), again)
  await until(() => has('a'), 'the next object of that name')
  t.strictSame(told(), ['added a@5 by list', 'deleted a@5 by write', 'added a@14 by watch'])
})

t.test('reflector keeps a new object when an old object with the same name is deleted', async (t) => {
  const { reflector, send, has } = await startWatching(t)
  reflector.noteWritten(aThing('a', 14, { uid: 'another' }))
  send(line('DELETED', aThing('a', 13)), line('ADDED', aThing('z', 15)))
  await until(() => has('z'), 'the last event')
  t.equal(reflector.lister.get('default/a')?.metadata.uid, 'another')
})

t.test('reflector adds apiVersion and kind to every object, and keeps what a cache needs', async (t) => {
  const heavy = aThing('a', 5)
  const managed = { ...heavy, metadata: { ...heavy.metadata, managedFields: [{}] } }
  const { reflector } = await startReflector(t, { lists: [list(10, managed)], watches: [open()] })
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
