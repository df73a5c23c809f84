import t, { type Test } from 'tap'
import { cacheHash } from '../../../api-gateway/src/cache/cache-hash.ts'
import { idempotencyObjectKeys } from '../../../api-gateway/src/creation/signed-plans.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { toArchivedLine } from '../../../crds/src/records/archive.ts'
import {
  batchKey,
  cacheEntryKey,
  dayOf,
  dayPrefix,
  deletedAccountKey,
  expiryKey,
  JOIN,
  logKey,
  logPrefix,
  objectKey,
  recordKey,
  rewriteKey,
  segmentsPrefix,
  tombstonesPrefix,
} from '../../../crds/src/records/storage-keys.ts'
import { countIgnored, JUNK, sumIgnored } from '../../support/attack/junk.ts'
import { eventually } from '../../support/eventually.ts'
import { aScreenshot, buildSegments, completedStatus } from '../../support/fakes/builders.ts'
import { call } from '../api-gateway/client.ts'
import { ACCOUNT, ago, DAY, startStage } from './stage.ts'

// Arbitrary objects in the bucket, written with the store's own key: the programs ignore them, and delete nothing because of them.

const VICTIM = 'other'
const stage = await startStage(t)
const { world, get, remove, hasObject, hasFile, listIds } = stage
const put = (key: string, text: string | Buffer) => world.bucket.putObject('tintype', key, text)
const first = await stage.startOperator()
const createdAt = ago(3 * DAY)
const own = await stage.addRecords(4, () => ({ createdAt }))
const theirs = await stage.addRecords(2, () => ({ createdAt, account: VICTIM, spec: { retentionDays: 20 } }))
await eventually('all are archived', async () => (await stage.liveIds()).length === 0)
await first.end('SIGTERM')
const [kept = '', doomed = '', changed = ''] = own
const before = (await get('/screenshots')).body
const victimKey = await world.createKey({ accountName: VICTIM })
const theirList = (await call(`${stage.gateway.url}/v1/screenshots`, { key: victimKey })).body

const shot = (id: string, accountName: string) =>
  aScreenshot({
    name: toObjectName(id),
    metadata: { creationTimestamp: createdAt.toISOString() },
    spec: { accountName },
    status: completedStatus(),
  })
const newPast = () => newId('scr', createdAt)
const valid = (id: string, account = ACCOUNT) => toArchivedLine(shot(id, account))

/** Keys that a program must report, with the kind under which it counts them. */
const expected: { program: 'gateway' | 'operator'; kind: string; key: string }[] = []
async function plant(program: 'gateway' | 'operator', kind: string, key: string, text: string | Buffer): Promise<string> {
  await put(key, text)
  expected.push({ program, kind, key })
  return key
}
const logOf = { gateway: stage.gateway.log, operator: () => '' }

async function assertIgnored(t: Test, program: 'gateway' | 'operator', metricsUrl?: string) {
  const wanted = expected.filter((each) => each.program === program)
  for (const { kind, key } of wanted) {
    // The line may arrive after the response.
    await eventually(`${kind} ${key} is logged`, async () => countIgnored(logOf[program](), key) > 0)
    t.equal(countIgnored(logOf[program](), key), 1, `${kind} ${key} is logged once`)
  }
  if (metricsUrl === undefined) return
  const text = await (await fetch(`${metricsUrl}/metrics`)).text()
  for (const kind of new Set(wanted.map((each) => each.kind))) {
    const count = wanted.filter((each) => each.kind === kind).length
    t.ok(sumIgnored(text, kind) >= count, `${kind} is counted`)
  }
}

t.test('REST responses ignore malformed and misplaced records', async (t) => {
  const future = newId('scr', new Date(Date.now() + 400 * DAY))
  const victims = await Promise.all(theirs.map((id) => world.bucket.getObject('tintype', recordKey(VICTIM, id))))
  const texts = [...JUNK, valid(newPast()), valid(newPast(), VICTIM), (await victims[0]!.toArray()).join('')]
  const ids = texts.map(newPast)
  for (const [index, text] of texts.entries()) await plant('gateway', 'record', recordKey(ACCOUNT, ids[index]!), text)
  await plant(
    'gateway',
    'record',
    recordKey(ACCOUNT, theirs[0]!),
    (await (await world.bucket.getObject('tintype', recordKey(VICTIM, theirs[0]!))).toArray()).join(''),
  )
  await plant('gateway', 'record', recordKey(ACCOUNT, future), valid(future))
  for (const id of [...ids, theirs[0]!, future, ...ids]) {
    const { status, body } = await get(`/screenshots/${id}`)
    t.strictSame([status, body.error?.code], [404, 'NOT_FOUND'], id)
  }
  t.strictSame((await get('/screenshots')).body, before)
})

t.test('lists ignore malformed and misplaced segments, tombstones and days', async (t) => {
  const day = dayOf(kept)
  const names = JUNK.map(() => buildSegments(ACCOUNT, [shot(newPast(), ACCOUNT)])[0]!.key)
  for (const [index, text] of JUNK.entries()) await plant('gateway', 'segment', names[index]!, text)
  await plant('gateway', 'segment', `${segmentsPrefix(ACCOUNT, day)}nonsense`, '')
  await plant('gateway', 'segment', buildSegments(ACCOUNT, [shot(newPast(), ACCOUNT)])[0]!.key.replace(day, '70000'), 'x')
  const foreign = newPast()
  await put(buildSegments(ACCOUNT, [shot(foreign, VICTIM)])[0]!.key, buildSegments(ACCOUNT, [shot(foreign, VICTIM)])[0]!.text)
  await plant('gateway', 'tombstone', `${tombstonesPrefix(ACCOUNT, day)}nonsense`, '')
  await plant('gateway', 'tombstone', `${tombstonesPrefix(ACCOUNT, day)}${newId('scr', ago(9 * DAY))}`, '')
  for (const stray of ['yyy', '7/x', '-31233/one/x', `${day}/x`]) await put(`records/${ACCOUNT}/${stray}`, 'x')
  for (const order of ['desc', 'asc']) {
    t.strictSame((await listIds(`&order=${order}`)).sort(), own, order)
    t.strictSame((await listIds(`&order=${order}`, 1)).sort(), own, `${order}, page by page`)
  }
  t.strictSame((await get('/screenshots')).body, before)
  const theirsNow = (await call(`${stage.gateway.url}/v1/screenshots`, { key: victimKey })).body
  t.strictSame(
    theirsNow.data.map(({ id }: { id: string }) => id),
    theirList.data.map(({ id }: { id: string }) => id),
  )
})

t.test('batches, Idempotency-Keys, the cache, delivery logs and files ignore malformed objects', async (t) => {
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    call(`${stage.gateway.url}/v1${path}`, { method: 'POST', key: stage.key, body, headers })
  const hook = (await post('/webhooks', { name: 'orders', url: 'https://hooks.example.com/', events: ['screenshot.completed'] })).body.data
  for (const [index, text] of JUNK.entries()) {
    const batch = newId('batch', createdAt)
    await plant('gateway', 'batch', batchKey(ACCOUNT, batch), text)
    t.equal((await get(`/batches/${batch}`)).status, 404)
    await plant('gateway', 'idempotency', idempotencyObjectKeys(ACCOUNT, `order-${index}`, world.ring)[0]!, text)
    const created = await post('/screenshots', { url: 'https://example.com/' }, { 'idempotency-key': `order-${index}` })
    t.equal(created.status, 202, `Idempotency-Key over ${String(text).slice(0, 9)}`)
    const url = `https://example.com/cached-${index}`
    await plant('gateway', 'cache', cacheEntryKey(ACCOUNT, cacheHash({ account: ACCOUNT, url }, world.ring)), text)
    t.equal((await post('/screenshots', { url, options: { cache: true } })).status, 202)
    await plant('gateway', 'delivery_log', logKey(logPrefix(ACCOUNT, hook.id), ago(index), 1, `n${index}`), text)
  }
  await plant('gateway', 'delivery_log', `${logPrefix(ACCOUNT, hook.id)}nonsense`, 'x')
  await plant('gateway', 'delivery_log', logKey(logPrefix(ACCOUNT, hook.id), new Date(Date.now() + 9 * DAY), 1, 'late'), 'x')
  for (let time = 0; time < 2; time++) t.strictSame((await get(`/webhooks/${hook.id}/deliveries`)).body.data, [])

  const { download_url: link } = (await get(`/screenshots/${changed}`)).body
  t.equal((await call(link)).status, 200)
  await plant('gateway', 'file', objectKey(ACCOUNT, changed, 'png'), 'another picture')
  t.equal((await call(link)).status, 404, 'a file that does not match its record')
  await assertIgnored(t, 'gateway', stage.gateway.metricsUrl)
  const metrics = await (await fetch(`${stage.gateway.metricsUrl}/metrics`)).text()
  const codes = [...metrics.matchAll(/^http_request_duration_seconds_count\{.*code="(\d+)".*\}/gm)].map(([, code]) => Number(code))
  t.ok(codes.includes(200) && codes.includes(404), 'responses are counted by their code')
  t.strictSame(
    codes.filter((code) => code >= 500),
    [],
    'no response is a 5xx',
  )
})

t.test('the operator deletes nothing because of unconfirmed marks, and continues its work', async (t) => {
  const [victim = ''] = theirs
  const folders: string[] = []
  const day = dayOf(victim)
  t.equal((await remove(doomed)).status, 204)
  await plant('operator', 'expiry', 'expiries/nonsense', '')
  await plant('operator', 'expiry', expiryKey(VICTIM, victim, ago(DAY)), '')
  await plant('operator', 'expiry', expiryKey(VICTIM, theirs[1]!, ago(2 * DAY)), 'k1.forged')
  await plant('operator', 'rewrite', 'rewrites/nonsense', '')
  await plant('operator', 'rewrite', rewriteKey(VICTIM, day, victim), '')
  await plant('operator', 'rewrite', rewriteKey(VICTIM, day, newId('scr', ago(9 * DAY))), '')
  await plant('operator', 'gone', 'gone/Not an account', 'x')
  await put(deletedAccountKey(VICTIM), ago(900 * DAY).toISOString())
  await plant('operator', 'gone', deletedAccountKey('nobody'), ago(900 * DAY).toISOString())
  await plant('operator', 'file', `users/${ACCOUNT}/zzz.png`, 'x')
  // Objects in an unknown account or day are reported by their folder.
  for (const [kind, folder] of [
    ['file', 'users/Not an account/'],
    ['record', `records/${ACCOUNT}/zzz/`],
  ] as const) {
    await put(`${folder}x`, 'x')
    folders.push(`${folder}x`)
    expected.push({ program: 'operator', kind, key: folder })
  }
  await put(`users/nobody/${newPast()}.png`, 'kept until its account is certainly deleted')
  await put(rewriteKey(ACCOUNT, dayOf(kept), JOIN), '')

  const operator = await stage.startOperator()
  logOf.operator = operator.output
  await eventually('the operator has reported everything', async () =>
    expected.every(({ program, key }) => program === 'gateway' || countIgnored(operator.output(), key) > 0),
  ).catch(() => t.fail(operator.output().slice(-4_000)))
  await eventually(
    'the deleted record was removed from the archive',
    async () => !(await hasObject(rewriteKey(ACCOUNT, dayOf(doomed), doomed))),
  )
  t.notOk(await hasObject(recordKey(ACCOUNT, doomed)))
  const added = await stage.addRecord()
  await eventually('a new record is archived', () => hasObject(recordKey(ACCOUNT, added)))
  await assertIgnored(t, 'operator')
  for (const id of theirs) t.ok((await hasFile(id, VICTIM)) && (await hasObject(recordKey(VICTIM, id))), `${id} is unchanged`)
  for (const key of folders) t.ok(await hasObject(key), `${key} is unchanged`)
  for (const { key, kind } of expected)
    if (!['idempotency', 'gone'].includes(kind) && !key.endsWith('/')) t.ok(await hasObject(key), `${key} is unchanged`)
  t.ok((await stage.keysUnder('users/nobody/')).length > 0)
  t.ok((await stage.keysUnder(dayPrefix(VICTIM, day))).length > 0)
  t.strictSame(
    (await listIds()).filter((id) => own.includes(id)),
    own.filter((id) => id !== doomed),
  )
  const theirsNow = (await call(`${stage.gateway.url}/v1/screenshots`, { key: victimKey })).body
  t.strictSame(
    theirsNow.data.map(({ id }: { id: string }) => id),
    theirList.data.map(({ id }: { id: string }) => id),
  )
})
