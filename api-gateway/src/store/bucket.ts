import * as http from 'node:http'
import * as https from 'node:https'
import type { Readable } from 'node:stream'
import { text as readText } from 'node:stream/consumers'
import { Client, S3Error } from 'minio'
import { notFound, unavailable } from '../errors.ts'
import type { ByteRange } from '../translate/byte-range.ts'
import type { FileStore, ListKeysOptions, ObjectStore, StoredFile, StoredText, WriteCondition } from './ports.ts'

/** Milliseconds in which the store must begin to answer. */
const ANSWER_MILLISECONDS = 10_000
/** Milliseconds without a byte after which a download is given up; a slow reader's pauses count too. */
const IDLE_MILLISECONDS = 30_000

/** Keys that a store lists at once. */
const MAX_KEYS = 1_000

export interface BucketOptions {
  endpoint: string
  region: string
  bucket: string
  accessKey: string
  secretKey: string
}

type Transport = Pick<typeof http, 'request'>

/** The minio client waits for ever by itself: a store that hangs must end in an answer. */
const withTimeout = (request: Transport['request']): Transport => ({
  // The client calls only this one of the overloads.
  request: ((options: http.RequestOptions, onResponse: (response: http.IncomingMessage) => void) => {
    const call = request({ ...options, timeout: ANSWER_MILLISECONDS }, (response) => {
      response.setTimeout(IDLE_MILLISECONDS)
      onResponse(response)
    })
    return call.on('timeout', () => call.destroy(new Error('the store does not answer')))
  }) as Transport['request'],
})

const isAbsent = (error: unknown): boolean => error instanceof S3Error && ['NotFound', 'NoSuchKey'].includes(error.code ?? '')
/** Two writers at once: 412 for the later one, 409 while the other is under way. */
const CONDITION_CODES = new Set(['PreconditionFailed', 'ConditionalRequestConflict'])
const away = (error: unknown): never => {
  throw unavailable('the store is not available for the moment', error)
}

/** The bucket, by the S3 protocol. */
export class Bucket implements FileStore, ObjectStore {
  readonly #client: Client
  readonly #bucket: string

  constructor({ endpoint, region, bucket, accessKey, secretKey }: BucketOptions) {
    const { hostname, port, protocol } = new URL(endpoint)
    const useSSL = protocol === 'https:'
    this.#bucket = bucket
    this.#client = new Client({
      endPoint: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? (useSSL ? 443 : 80) : Number(port),
      useSSL,
      region,
      accessKey,
      secretKey,
      pathStyle: true,
      transport: withTimeout(useSSL ? https.request : http.request),
      // A caller waits, and the client's own repetition writes to the console.
      retryOptions: { disableRetry: true },
    })
  }

  async stat(key: string): Promise<StoredFile | undefined> {
    try {
      const { size, etag, lastModified } = await this.#client.statObject(this.#bucket, key)
      return { sizeBytes: size, etag, lastModified }
    } catch (error) {
      return isAbsent(error) ? undefined : away(error)
    }
  }

  async open(key: string, range: ByteRange | undefined): Promise<Readable> {
    const { start, end } = range ?? { start: 0, end: -1 }
    return this.#client.getPartialObject(this.#bucket, key, start, end - start + 1).catch((error: unknown) => {
      // Deleted since it was looked at.
      if (isAbsent(error)) throw notFound('file')
      return away(error)
    })
  }

  async read(key: string): Promise<StoredText | undefined> {
    try {
      const stream = await this.#client.getObject(this.#bucket, key)
      const { etag = '' } = (stream as Readable & { headers?: Record<string, string> }).headers ?? {}
      return { text: await readText(stream), etag: etag.replaceAll('"', '') }
    } catch (error) {
      return isAbsent(error) ? undefined : away(error)
    }
  }

  async write(key: string, text: string, condition: WriteCondition = {}): Promise<string | undefined> {
    const headers = {
      'content-type': 'application/json',
      ...(condition.ifAbsent ? { 'if-none-match': '*' } : {}),
      ...(condition.ifMatch === undefined ? {} : { 'if-match': condition.ifMatch }),
    }
    try {
      const { etag } = await this.#client.putObject(this.#bucket, key, text, Buffer.byteLength(text), headers)
      return etag.replaceAll('"', '')
    } catch (error) {
      const { code } = error as { code?: string }
      // A conditional put of an object that is gone is refused with "no such key".
      return isAbsent(error) || CONDITION_CODES.has(code ?? '') ? undefined : away(error)
    }
  }

  async remove(key: string): Promise<void> {
    await this.#client.removeObject(this.#bucket, key).catch(away)
  }

  async list(prefix: string, { after = '', limit = MAX_KEYS, folders = false }: ListKeysOptions = {}): Promise<string[]> {
    try {
      const { objects } = await this.#client.listObjectsV2Query(this.#bucket, prefix, '', folders ? '/' : '', limit, after)
      return objects.map((entry) => ('prefix' in entry ? entry.prefix : entry.name) ?? '')
    } catch (error) {
      return away(error)
    }
  }

  async mark(key: string): Promise<void> {
    await this.#client.putObject(this.#bucket, key, Buffer.alloc(0), 0).catch(away)
  }

  async removeAll(prefix: string): Promise<void> {
    try {
      const names: string[] = []
      for await (const { name } of this.#client.listObjectsV2(this.#bucket, prefix, true)) if (name) names.push(name)
      if (names.length > 0) await this.#client.removeObjects(this.#bucket, names)
    } catch (error) {
      away(error)
    }
  }

  /** @throws when the bucket is not there */
  async check(): Promise<void> {
    if (!(await this.#client.bucketExists(this.#bucket))) throw new Error(`there is no bucket ${this.#bucket}`)
  }
}
