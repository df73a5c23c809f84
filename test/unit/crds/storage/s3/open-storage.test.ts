import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { FencedError } from '../../../../../crds/src/runtime/fence.ts'
import { openStorage } from '../../../../../crds/storage/s3/open-storage.ts'

t.test('a writer that has lost its lease sends no write to the bucket, of whichever kind, and still reads', async (t) => {
  const arrived = { reads: 0, writes: 0 }
  const server = createServer(async (request, response) => {
    const { method, url = '' } = request
    for await (const _ of request);
    const isRead = method === 'GET'
    arrived[isRead ? 'reads' : 'writes'] += 1
    const page = isRead ? LIST : url.includes('delete') ? '<DeleteResult></DeleteResult>' : COPY
    response.writeHead(200, { etag: '"1"', 'content-type': 'application/xml' }).end(page)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const access = { endpoint, region: 'us-east-1', bucket: 'tintype', accessKey: 'key', secretKey: 'secret' }
  const lease = { isHeld: true }
  const storage = openStorage({ access, toError: (what, cause) => new Error(what, { cause }), mayWrite: () => lease.isHeld })
  const writes = {
    write: () => storage.write('a/b', 'x'),
    copy: () => storage.copy({ from: 'a/b', etag: '1', to: 'a/c' }),
    remove: () => storage.remove(['a/b']),
    removePrefix: () => storage.removePrefix('a/'),
  }
  const kinds = Object.keys(writes).length
  for (const write of Object.values(writes)) await write()
  t.equal(arrived.writes, kinds, 'control: the leader writes')
  lease.isHeld = false
  for (const [kind, write] of Object.entries(writes)) await t.rejects(async () => void (await write()), FencedError, kind)
  t.equal(arrived.writes, kinds, 'nothing arrived')
  t.strictSame(await storage.list('a/'), ['a/b'])
})

t.test('a write that opens a connection is not sent if the lease is lost meanwhile', async (t) => {
  let arrived = 0
  const server = createServer((_, response) => {
    arrived += 1
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const access = { endpoint, region: 'us-east-1', bucket: 'tintype', accessKey: 'key', secretKey: 'secret' }
  let asked = 0
  const mayWrite = () => ++asked === 1
  const storage = openStorage({ access, toError: (what, cause) => new Error(what, { cause }), mayWrite })
  await t.rejects(storage.write('a/b', 'x'), FencedError)
  t.strictSame([asked, arrived], [2, 0], 'it was asked before the connection, and again before the request')
})

const LIST = '<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a/b</Key></Contents></ListBucketResult>'
const COPY = '<CopyObjectResult><ETag>"1"</ETag></CopyObjectResult>'
