import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { expireFiles } from '../../../../../operator/src/stores/versitygw/expire-files.ts'

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
