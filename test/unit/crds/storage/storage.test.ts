import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import path from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { newId } from '../../../../crds/src/identifiers/ids.ts'
import { ignoreSilently } from '../../../../crds/src/records/ignored-objects.ts'
import { tombstoneKey } from '../../../../crds/src/records/storage-keys.ts'
import { FencedError } from '../../../../crds/src/runtime/fence.ts'
import { applyChanges, waitForAccess } from '../../../../crds/storage/access.ts'
import { findTombstones } from '../../../../crds/storage/archive.ts'
import { AccessRefusedError } from '../../../../crds/storage/port.ts'
import { explain } from '../../../../crds/storage/s3/explain.ts'
import { openStorage } from '../../../../crds/storage/s3/open-storage.ts'
import { createDirectory } from '../../../support/directory.ts'
import { at } from '../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../support/fakes/memory-bucket.ts'
import { startHttpsReceiver } from '../../../support/servers/https-receiver.ts'
import { serve } from '../../../support/servers/serve.ts'

const refused = () => Promise.reject(new Error('look for the bucket', { cause: new AccessRefusedError('the key is unknown') }))

t.test('waitForAccess waits while the store refuses the key, but not for an unreachable store', async (t) => {
  let asked = 0
  await waitForAccess(() => (++asked < 3 ? refused() : Promise.resolve()))
  t.equal(asked, 3)
  await waitForAccess(() => Promise.reject(new Error(`connect ECONNREFUSED ${++asked}`)))
  t.equal(asked, 4)
})

t.test('waitForAccess stops waiting after the time limit, and when it is aborted', async (t) => {
  await waitForAccess(refused, { patienceMilliseconds: 1 })
  await t.rejects(waitForAccess(refused, { signal: AbortSignal.timeout(10) }), { name: 'AbortError' })
})

const id = (second: number): string => newId('scr', at(second), Buffer.alloc(10, 7))

t.test('findTombstones finds the deleted ids among others, over days and thousands of marks', async (t) => {
  const bucket = new MemoryBucket()
  const lister = { storage: bucket.storage, report: ignoreSilently }
  for (let n = 0; n < 2_300; n++) bucket.objects.set(tombstoneKey('acme', id(n)), '')
  bucket.objects.set(tombstoneKey('acme', id(-100_000)), '')
  const wanted = [id(0), id(2_299), id(1_500), id(-100_000)]
  const found = await findTombstones('acme', [...wanted, id(2_300), id(-5), id(-200_000)], lister)
  t.strictSame([...found].sort(), wanted.sort())
  t.equal((await findTombstones('other', wanted, lister)).size, 0)
  t.equal((await findTombstones('acme', [], lister)).size, 0)
})

const log = pino({ level: 'silent' })
const directory = await createDirectory(t, 'follow')

/** Replaces the files of a volume as the kubelet does. */
function mount(volume: string, version: number, files: Record<string, string>): void {
  const target = path.join(volume, `..${version}`)
  mkdirSync(target, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(target, name), text)
  symlinkSync(target, path.join(volume, '..new'))
  renameSync(path.join(volume, '..new'), path.join(volume, '..data'))
}

t.test('keys of a changed Secret are used without a restart, also by those who have the object already', async (t) => {
  const volume = path.join(directory, 'keys')
  const requests = { accessKey: 'old', secretKey: 'old-secret' }
  const signer = { accessKey: 'sign', secretKey: 'sign-secret' }
  const files = { 'access-key': 'old', 'secret-key': 'old-secret', 'signer-access-key': 'sign', 'signer-secret-key': 'sign-secret' }
  mount(volume, 1, files)
  applyChanges({ directory: volume, keys: [requests], signer, log }, undefined)
  t.strictSame([requests.accessKey, signer.accessKey], ['old', 'sign'])
  mount(volume, 2, { ...files, 'access-key': 'new\n', 'secret-key': 'new-secret', 'signer-secret-key': 'changed' })
  applyChanges({ directory: volume, keys: [requests], signer, log }, undefined)
  t.strictSame(requests, { accessKey: 'new', secretKey: 'new-secret' })
  t.strictSame(signer, { accessKey: 'sign', secretKey: 'changed' })
  mount(volume, 3, { ...files, 'access-key': '' })
  applyChanges({ directory: volume, keys: [requests], log }, undefined)
  t.equal(requests.accessKey, 'new', 'an empty key changes nothing')
})

t.test('a store with a certificate of a new authority is reached without a restart', async (t) => {
  const receiver = await startHttpsReceiver({ directory: path.join(directory, 'authority') })
  t.teardown(() => receiver.close())
  const caFile = path.join(directory, 'ca.crt')
  writeFileSync(caFile, '')
  const last = applyChanges({ keys: [], caFile, log }, undefined)
  await t.rejects(fetch(receiver.url))
  writeFileSync(caFile, receiver.ca)
  t.equal(applyChanges({ keys: [], caFile, log }, last), receiver.ca)
  t.equal((await fetch(receiver.url)).status, 200)
})

// test/integration/storage has the errors of real stores.

const access = { endpoint: 'https://s3.example', region: 'us-east-1', bucket: 'tintype', accessKey: 'key', secretKey: 'secret' }
const hosted = { ...access, pathStyle: false }

t.test('explain names the host with the bucket, and the setting that keeps the bucket out of it', async (t) => {
  for (const code of ['ENOTFOUND', 'ERR_TLS_CERT_ALTNAME_INVALID']) {
    t.match(explain({ code, access: hosted }), /https:\/\/tintype\.s3\.example .*set storage\.external\.pathStyle to true/, code)
    t.match(explain({ code, access }), /https:\/\/s3\.example (?!.*pathStyle)/, code)
  }
  t.match(explain({ code: 'NoSuchBucket', access: hosted }), /create it.*set storage\.external\.pathStyle to true/)
  t.notMatch(explain({ code: 'NoSuchBucket', access }), /pathStyle/)
})

t.test('explain names the setting for providers that refuse the bucket in the path, and nothing for what a retry solves', async (t) => {
  for (const code of ['SecondLevelDomainForbidden', 'PathStyleDomainForbidden'])
    t.match(explain({ code, access }), /set storage\.external\.pathStyle to false/, code)
  t.equal(explain({ code: 'SlowDown', access }), undefined)
})

/** A store that responds as the test says, and whose client may write as long as it has its lease. */
async function openFenced(t: Test, respond: RequestListener, mayWrite: () => boolean) {
  const endpoint = await serve(t, respond)
  return openStorage({ access: { ...access, endpoint }, toError: (what, cause) => new Error(what, { cause }), mayWrite })
}

t.test('a writer that has lost its lease sends no write to the bucket, of whichever kind, and still reads', async (t) => {
  let arrived = 0
  const lease = { isHeld: true }
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const { method, url = '' } = request
    for await (const _ of request);
    if (method !== 'GET') arrived++
    const removed = url.includes('delete') ? '<DeleteResult></DeleteResult>' : COPY
    response.writeHead(200, { etag: '"1"', 'content-type': 'application/xml' }).end(method === 'GET' ? LIST : removed)
  }
  const storage = await openFenced(t, respond, () => lease.isHeld)
  const writes = {
    write: () => storage.write('a/b', 'x'),
    copy: () => storage.copy({ from: 'a/b', etag: '1', to: 'a/c' }),
    remove: () => storage.remove(['a/b']),
    removePrefix: () => storage.removePrefix('a/'),
  }
  const kinds = Object.keys(writes).length
  for (const write of Object.values(writes)) await write()
  t.equal(arrived, kinds, 'control: the leader writes')
  lease.isHeld = false
  for (const [kind, write] of Object.entries(writes)) await t.rejects(async () => void (await write()), FencedError, kind)
  t.equal(arrived, kinds, 'nothing arrived')
  t.strictSame(await storage.list('a/'), ['a/b'])
})

t.test('a write that opens a connection is not sent if the lease is lost meanwhile', async (t) => {
  const counts = { arrived: 0, asked: 0 }
  const respond = (_: IncomingMessage, response: ServerResponse) => {
    counts.arrived++
    response.end()
  }
  const storage = await openFenced(t, respond, () => ++counts.asked === 1)
  await t.rejects(storage.write('a/b', 'x'), FencedError)
  t.strictSame(counts, { arrived: 0, asked: 2 }, 'it was asked before the connection, and again before the request')
})

const LIST = '<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a/b</Key></Contents></ListBucketResult>'
const COPY = '<CopyObjectResult><ETag>"1"</ETag></CopyObjectResult>'
