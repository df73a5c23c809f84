// The rules of a store that tests of controllers rest on: on a real store, and on the bucket in memory that stands for it.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t from 'tap'
import { openBucket } from '../../../api-gateway/src/store/bucket.ts'
import { isTooLarge } from '../../../crds/storage/port.ts'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import { startMinio } from '../../cluster/programs/minio.ts'
import { MemoryBucket } from '../../support/fakes/memory-bucket.ts'

const directory = await mkdtemp(path.join(tmpdir(), 'tintype-memory-bucket-'))
const minio = await startMinio({ directory })
t.teardown(async () => {
  await minio.stop()
  await rm(directory, { recursive: true, force: true })
})
const { endpoint, accessKey, secretKey } = minio
const access = { endpoint, region: 'us-east-1', bucket: 'tintype', accessKey, secretKey }
const memory = new MemoryBucket()
await openStorage(access).ensureBucket()

for (const [store, storage, gateway] of [
  ['a real store', openStorage(access), openBucket(access)],
  ['the bucket in memory', memory.storage, memory.store],
] as const) {
  t.test(`${store} lists keys in order, after a key, in pages, and by folders`, async (t) => {
    for (const key of ['a/2/x', 'a/1', 'b', 'a/2/y', 'a/10', 'a-']) await storage.write(`list/${key}`, key)
    t.strictSame(await storage.list('list/a/'), ['list/a/1', 'list/a/10', 'list/a/2/x', 'list/a/2/y'])
    t.strictSame(await storage.list('list/a/', { after: 'list/a/1', limit: 2 }), ['list/a/10', 'list/a/2/x'])
    t.strictSame(await storage.list('list/', { folders: true }), ['list/a-', 'list/b', 'list/a/'], 'folders come last')
    t.strictSame(
      (await storage.listObjects('list/a/', { limit: 1 })).map(({ key }) => key),
      ['list/a/1'],
    )
    await storage.removePrefix('list/a/')
    await storage.remove(['list/b', 'list/none'])
    t.strictSame(await storage.list('list/'), ['list/a-'])
  })

  t.test(`${store} writes on conditions, and gives the same ETag to the same text`, async (t) => {
    const etag = await gateway.write('etags/a', 'one', { ifAbsent: true })
    t.match(etag, /^[0-9a-f]{32}$/)
    t.equal(await gateway.write('etags/a', 'two', { ifAbsent: true }), undefined)
    t.equal(await gateway.write('etags/a', 'two', { ifMatch: 'another' }), undefined)
    t.strictSame(await gateway.read('etags/a', 10), { text: 'one', etag })
    t.ok(await gateway.write('etags/a', 'two', { ifMatch: etag ?? '' }))
    t.equal(await gateway.write('etags/b', 'one'), etag)
  })

  t.test(`${store} copies an object only with the ETag that it has`, async (t) => {
    await storage.write('copies/from', 'picture')
    const etag = (await gateway.read('copies/from', 10))?.etag ?? ''
    t.equal(await storage.copy({ from: 'copies/from', etag: 'another', to: 'copies/to' }), undefined)
    t.equal(await storage.copy({ from: 'copies/none', etag, to: 'copies/to' }), undefined)
    t.equal(await storage.exists('copies/to'), false)
    t.equal(await storage.copy({ from: 'copies/from', etag, to: 'copies/to' }), etag)
    t.equal(await storage.readText('copies/to', 10), 'picture')
  })

  t.test(`${store} reads nothing where nothing is, and not more than the limit`, async (t) => {
    await storage.write('reads/ä', 'ü'.repeat(5))
    t.equal(await storage.readText('reads/ä', 10), 'ü'.repeat(5))
    t.ok(isTooLarge(await storage.readText('reads/ä', 9).catch((error: unknown) => error)))
    t.equal(await storage.readText('reads/none', 10), undefined)
    t.strictSame([await storage.exists('reads/ä'), await storage.exists('reads/none')], [true, false])
  })
}
