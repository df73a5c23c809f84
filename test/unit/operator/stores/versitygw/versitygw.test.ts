import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { IDENTITIES } from '../../../../../crds/src/records/folders.ts'
import type { Identities } from '../../../../../operator/src/stores/driver.ts'
import { type BucketStatement, expireFiles, withIdentities } from '../../../../../operator/src/stores/versitygw/driver.ts'

const DAY = 86_400_000
const now = new Date('2026-03-01T00:00:00Z')
const days = { events: 7, users: 31 }

async function put(directory: string, file: string, ageDays: number): Promise<void> {
  const target = path.join(directory, file)
  await mkdir(path.dirname(target), { recursive: true })
  await writeFile(target, 'x')
  const time = new Date(now.getTime() - ageDays * DAY)
  for (let each = target; each !== directory; each = path.dirname(each)) await utimes(each, time, time)
}

const filesOf = async (directory: string): Promise<string[]> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
    .sort()
}

t.test('expireFiles deletes files that are older than the days of their folder', async (t) => {
  const bucket = t.testdir({})
  await put(bucket, 'users/a/new.png', 30)
  await put(bucket, 'users/b/old.png', 32)
  await put(bucket, 'events/a/new', 6)
  await put(bucket, 'events/b/old', 8)
  await put(bucket, 'records/a/old', 900)
  await put(bucket, '.sgwtmp/multipart/new', 0)
  await put(bucket, '.sgwtmp/multipart/old', 2)
  const result = await expireFiles(bucket, days, now)
  t.strictSame(await filesOf(bucket), ['.sgwtmp/multipart/new', 'events/a/new', 'records/a/old', 'users/a/new.png'])
  t.equal(result.files, 3)
})

t.test('expireFiles deletes directories that were empty for a day, but not the folders', async (t) => {
  const bucket = t.testdir({})
  await put(bucket, 'events/a/b/old', 8)
  await mkdir(path.join(bucket, 'events/fresh'), { recursive: true })
  await utimes(path.join(bucket, 'events/fresh'), now, now)
  t.strictSame(await expireFiles(bucket, days, now), { files: 1, directories: 2 })
  t.strictSame(await readdir(path.join(bucket, 'events')), ['fresh'])
})

t.test('expireFiles accepts a bucket without folders', async (t) => {
  t.strictSame(await expireFiles(path.join(t.testdir({}), 'none'), days, now), { files: 0, directories: 0 })
})

const keyOf = (role: string, mark: string): string => `${role}-${mark}`.padEnd(20, '0')
const keys = (mark: string): Identities =>
  Object.fromEntries(IDENTITIES.map((role) => [role, { accessKey: keyOf(role, mark), secretKey: 'secret' }])) as Identities
/** The statements for an identity of the keys `one`. */
const statementsOf = (statements: readonly BucketStatement[], role: string) =>
  statements.filter(({ Principal }) => Principal.AWS.includes(keyOf(role, 'one')))
const namesIn = (statements: readonly BucketStatement[]) => new Set(statements.flatMap(({ Principal }) => Principal.AWS))

t.test('withIdentities allows each identity what its role may do, and denies nothing', async (t) => {
  const { policy, replaced } = withIdentities([], keys('one'), 'tintype')
  t.strictSame(replaced, [])
  t.strictSame(new Set(policy.Statement.map(({ Effect }) => Effect)), new Set(['Allow']))
  const upload = { Effect: 'Allow', Action: ['s3:PutObject'], Resource: ['arn:aws:s3:::tintype/users/*'] }
  t.strictSame(statementsOf(policy.Statement, 'uploads'), [{ Sid: 'tintype', Principal: { AWS: [keyOf('uploads', 'one')] }, ...upload }])
  for (const role of IDENTITIES) {
    const resources = statementsOf(policy.Statement, role).flatMap(({ Resource }) => Resource)
    t.equal(new Set(resources).size, resources.length, `each resource of ${role} once`)
  }
})

t.test('withIdentities is idempotent, keeps statements of others, and lists replaced keys', async (t) => {
  const read = { Effect: 'Allow' as const, Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::tintype/*'] }
  const theirs: BucketStatement = { Sid: 'theirs', Principal: { AWS: ['backup'] }, ...read }
  const first = withIdentities([theirs], keys('one'), 'tintype').policy.Statement
  t.same(first[0], theirs)
  t.strictSame(withIdentities(first, keys('one'), 'tintype'), { policy: { Version: '2012-10-17', Statement: first }, replaced: [] })

  const second = withIdentities(first, { ...keys('one'), gateway: keys('two').gateway }, 'tintype')
  t.strictSame(second.replaced, [keyOf('gateway', 'one')])
  t.notOk(namesIn(second.policy.Statement).has(keyOf('gateway', 'one')))
  t.ok(namesIn(second.policy.Statement).has('backup'))
})

t.test('withIdentities refuses a policy that the file system could not store', async (t) => {
  t.ok(withIdentities([], keys('one'), 'b'.repeat(35)))
  t.throws(() => withIdentities([], keys('one'), 'b'.repeat(63)), {
    reason: 'StorageRefused',
    message: /takes 3800: shorten storage\.bucket/,
  })
})
