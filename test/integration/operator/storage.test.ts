import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t from 'tap'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import { startMinio } from '../../cluster/programs/minio.ts'

const SKEW_MILLISECONDS = 90_000

const directory = await mkdtemp(path.join(tmpdir(), 'tintype-storage-'))
const minio = await startMinio({ directory })
t.teardown(async () => {
  await minio.stop()
  await rm(directory, { recursive: true, force: true })
})

for (const [words, milliseconds] of [
  ['behind', -SKEW_MILLISECONDS],
  ['ahead of', SKEW_MILLISECONDS],
] as const) {
  t.test(`the operator lists and reads its objects with a clock 90 s ${words} the store’s`, async (t) => {
    const { endpoint, accessKey, secretKey } = minio
    const access = { endpoint, region: 'us-east-1', bucket: 'tintype', accessKey, secretKey }
    const storage = openStorage(access, { now: () => new Date(Date.now() + milliseconds) })
    await storage.ensureBucket()
    await storage.write('records/a', 'text')
    t.equal(await storage.exists('records/a'), true)
    t.equal(await storage.exists('records/b'), false)
    t.equal(await storage.readText('records/a', 10), 'text')
  })
}
