import { text } from 'node:stream/consumers'
import { lazyBucketClient } from '../storage/bucket-client.ts'
import type { EventStore } from './event-bytes.ts'

/** How to reach the release's bucket. */
export interface BucketAccess {
  endpoint: string
  region: string
  bucket: string
  accessKey: string
  secretKey: string
}

/** Codes by which S3-compatible stores say that there is no such object. */
const ABSENT_CODES = new Set(['NoSuchKey', 'NotFound'])
/** A post waits for the store no longer: without it the event is built again. */
const TIMEOUT_MILLISECONDS = 2_000

/** Keeps events in the release's bucket. */
export function openEventStore({ bucket, ...access }: BucketAccess): EventStore {
  const connect = lazyBucketClient(access)
  return {
    async put(key, body) {
      const client = await connect()
      await inTime(client.putObject(bucket, key, body, Buffer.byteLength(body), { 'content-type': 'application/json' }))
    },
    async get(key) {
      const client = await connect()
      try {
        return await inTime(client.getObject(bucket, key).then(text))
      } catch (error) {
        if (ABSENT_CODES.has((error as { code?: string }).code ?? '')) return undefined
        throw error
      }
    },
  }
}

/** The client has no time-out of its own. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer in ${TIMEOUT_MILLISECONDS} ms`)), TIMEOUT_MILLISECONDS)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
