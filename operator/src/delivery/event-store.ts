import { text } from 'node:stream/consumers'
import type { Client } from 'minio'
import type { EventStore } from './event-bytes.ts'

/** Codes by which S3-compatible stores say that there is no such object. */
const ABSENT_CODES = new Set(['NoSuchKey', 'NotFound'])

/** Keeps events in the release's bucket. */
export function bucketEventStore(client: Pick<Client, 'putObject' | 'getObject'>, bucket: string): EventStore {
  return {
    async put(key, body) {
      await client.putObject(bucket, key, body, Buffer.byteLength(body), { 'content-type': 'application/json' })
    },
    async get(key) {
      try {
        return await text(await client.getObject(bucket, key))
      } catch (error) {
        if (ABSENT_CODES.has((error as { code?: string }).code ?? '')) return undefined
        throw error
      }
    },
  }
}
