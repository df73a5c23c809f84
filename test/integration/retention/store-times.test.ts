import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t from 'tap'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { dayOf, JOIN, objectKey, recordKey, rewriteKey, segmentsPrefix, tombstoneKey } from '../../../crds/src/records/storage-keys.ts'
import { DEFAULT_PLANS } from '../../../crds/src/usage/plans.ts'
import { DeletedAccounts } from '../../../operator/src/controllers/retention/deleted-accounts.ts'
import { expire } from '../../../operator/src/controllers/retention/expire.ts'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import { startMinio } from '../../cluster/programs/minio.ts'
import { anAccount } from '../../support/fakes/builders.ts'
import { markChecks } from '../../support/sources/mark-checks.ts'
import { makeIdentities } from '../store-identities.ts'

// Times of a real store, which sets the time of storing itself, and the operator's own identity. The expiry gets a clock that is days ahead.

const DAY = 86_400_000
const ACCOUNT = 'acme'
const directory = await mkdtemp(path.join(tmpdir(), 'tintype-future-'))
const minio = await startMinio({ directory })
t.teardown(async () => {
  await minio.stop()
  await rm(directory, { recursive: true, force: true })
})
const place = { endpoint: minio.endpoint, region: 'us-east-1', bucket: 'tintype' }
const root = openStorage({ ...place, accessKey: minio.accessKey, secretKey: minio.secretKey })
await root.ensureBucket()
const { operator } = await makeIdentities(minio)
const access = { ...place, ...operator }
const storage = openStorage(access)
const log = { debug() {}, info() {}, warn() {}, error() {} }
const plans = { ...DEFAULT_PLANS, free: { ...DEFAULT_PLANS.free, retentionDays: 30, recordDays: 60 } }

const expireIn = (days: number) => {
  const shared = { ...markChecks, storage, now: () => new Date(Date.now() + days * DAY), log }
  return expire({
    ...shared,
    findAccount: () => anAccount({ name: ACCOUNT, spec: { plan: 'free' } }),
    isAccountGone: async () => false,
    findLive: () => undefined,
    schedules: () => [],
    optionsOfRuns: () => [],
    gone: new DeletedAccounts({ ...shared, kinds: [], graceMilliseconds: DAY }),
    plans,
    recordDays: 400,
    mayContinue: () => true,
  })
}

t.test('files and records with ids in the future expire by the time at which a real store received them', async (t) => {
  const years = ['2100-01-01', '2500-01-01'].map((day) => new Date(day))
  const ids = [new Date(Date.now() + 900 * DAY), ...years, new Date(2 ** 48 - 1)].map((time) => newId('scr', time))
  const files = ids.flatMap((id) => [objectKey(ACCOUNT, id, 'png'), objectKey(ACCOUNT, id, 'thumb.png')])
  const records = ids.flatMap((id) => [recordKey(ACCOUNT, id), tombstoneKey(ACCOUNT, id), `${segmentsPrefix(ACCOUNT, dayOf(id))}${id}`])
  const marks = ids.map((id) => rewriteKey(ACCOUNT, dayOf(id), JOIN))
  const strays = ['users/acme/aaa.png', 'users/acme/scr_0.png', 'records/acme/7/x', 'records/acme/-/x']
  // In the future for an expiry in 31 days, and in the past for one in 61.
  const present = newId('scr', new Date(Date.now() + 59 * DAY))
  const kept = [recordKey(ACCOUNT, present), ...strays]
  files.push(objectKey(ACCOUNT, present, 'png'))
  for (const key of [...files, ...records, ...marks, ...kept]) await root.write(key, 'x')
  const left = async () => (await Promise.all(['users/', 'records/', 'rewrites/'].map((prefix) => root.list(prefix)))).flat().sort()

  await expireIn(29)
  t.strictSame(await left(), [...files, ...records, ...marks, ...kept].sort(), 'nothing is old enough')
  await expireIn(31)
  t.strictSame(await left(), [...records, ...marks, ...kept].sort(), 'files reached their 30 days')
  await expireIn(61)
  t.strictSame(await left(), kept.sort(), 'records reached their 60 days; one whose day has come expires by its id')
})

t.test('a list of a real store contains the time of storing of each object, page by page', async (t) => {
  const before = Date.now()
  for (const key of ['records/b/1', 'records/b/2', 'records/b/3']) await root.write(key, 'x')
  const first = await storage.listObjects('records/b/', { limit: 2 })
  const rest = await storage.listObjects('records/b/', { after: 'records/b/2' })
  t.strictSame(
    [...first, ...rest].map(({ key }) => key),
    ['records/b/1', 'records/b/2', 'records/b/3'],
  )
  // HTTP and S3 dates may have whole seconds only.
  for (const { lastModified } of [...first, ...rest])
    t.ok(lastModified.getTime() >= before - 1_000 && lastModified.getTime() <= Date.now() + 1_000)
})

for (const skewMilliseconds of [-90_000, 90_000]) {
  t.test(`the operator lists and reads its objects with a clock ${skewMilliseconds / 1_000} s from the store’s`, async (t) => {
    const skewed = openStorage(access, { now: () => new Date(Date.now() + skewMilliseconds) })
    await skewed.write('records/c/1', 'text')
    t.equal(await skewed.exists('records/c/1'), true)
    t.equal(await skewed.exists('records/c/2'), false)
    t.equal(await skewed.readText('records/c/1', 10), 'text')
  })
}
