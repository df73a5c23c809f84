import { CaptureFailedError, TintypeError } from '../common/errors.ts'
import type { List } from '../common/list.ts'
import type {
  ArtifactType,
  CallOptions,
  CreatedScreenshot,
  CreatedVideo,
  CreateOptions,
  Screenshot,
  ScreenshotQuery,
  ScreenshotRequest,
  Video,
  VideoQuery,
  VideoRequest,
  WaitOptions,
} from '../common/types.ts'
import { REQUEST_FIELDS } from '../generated/fields.ts'
import { newIdempotencyKey, type Transport } from '../http/transport.ts'
import { listByCursor } from './lists.ts'

/** The service holds a request for at most this long. */
const MAX_HOLD_SECONDS = 25
const DEFAULT_WAIT_MILLISECONDS = 300_000
const DEFAULT_POLL_SECONDS = 2

export interface DownloadOptions extends CallOptions {
  /** Type of the file in `artifacts` to read instead of the picture or video. */
  artifact?: ArtifactType | undefined
}

/** The body of a request whose options are beside its fields. */
export function toCreateBody(request: object): object {
  const entries = Object.entries(request).filter(([, value]) => value !== undefined)
  const fields = entries.filter(([name]) => REQUEST_FIELDS.includes(name))
  const options = entries.filter(([name]) => !REQUEST_FIELDS.includes(name))
  return { ...Object.fromEntries(fields), ...(options.length === 0 ? {} : { options: Object.fromEntries(options) }) }
}

type Collection = '/screenshots' | '/videos'

/** Screenshots and videos have the same calls, at different paths. */
class Captures<
  Record extends Screenshot | Video,
  Request extends object,
  Created extends { id: string },
  Query extends { offset?: number | undefined },
> {
  readonly #transport: Transport
  readonly #collection: Collection

  constructor(transport: Transport, collection: Collection) {
    this.#transport = transport
    this.#collection = collection
  }

  #pathOf(id: string): string {
    return `${this.#collection}/${encodeURIComponent(id)}`
  }

  /** Creates a capture and resolves at once. Use `wait` to wait for its end. */
  async create({ signal, idempotencyKey = newIdempotencyKey(), ...request }: Request & CreateOptions): Promise<Created> {
    const body = toCreateBody(request)
    return (await this.#transport.call<Created>({ method: 'POST', path: this.#collection, body, idempotencyKey, signal })).body
  }

  /** Creates a capture and waits for its end. Resolves to the record, also if the capture failed. */
  async createAndWait({
    signal,
    waitTimeout = DEFAULT_WAIT_MILLISECONDS,
    idempotencyKey = newIdempotencyKey(),
    ...request
  }: Request & CreateOptions & WaitOptions): Promise<Record> {
    const deadline = this.#transport.timing.now() + waitTimeout
    const holdSeconds = toHoldSeconds(waitTimeout)
    const { status, body } = await this.#transport.call<Record>({
      method: 'POST',
      path: this.#collection,
      query: { wait: holdSeconds },
      body: toCreateBody(request),
      idempotencyKey,
      holdSeconds,
      signal,
    })
    return status === 200 && isFinished(body) ? body : this.#waitUntil(deadline, body.id, { waitTimeout, signal })
  }

  /** Reads a record. `wait` is the number of seconds for which the service holds the request while the capture is pending, 1 to 25. */
  async get(id: string, { wait, signal }: CallOptions & { wait?: number | undefined } = {}): Promise<Record> {
    return (await this.#read(id, wait, signal)).body
  }

  /** Waits for the end of a capture. Resolves to the record, also if the capture failed. */
  async wait(id: string, { waitTimeout = DEFAULT_WAIT_MILLISECONDS, signal }: WaitOptions = {}): Promise<Record> {
    return this.#waitUntil(this.#transport.timing.now() + waitTimeout, id, { waitTimeout, signal })
  }

  /**
   * Lists captures, newest first, and reads further pages while you iterate. `limit` is the number of records per page; `break` ends the list.
   */
  list(query: Query & CallOptions = {} as Query & CallOptions): List<Record> {
    return listByCursor(this.#transport, this.#collection, query)
  }

  /** Deletes a record and its files, invalidates its links, and cancels a running capture. */
  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await deleteOnce(this.#transport, this.#pathOf(id), signal)
  }

  /** Reads the file into memory. */
  async download(id: string, options: DownloadOptions = {}): Promise<Uint8Array> {
    return this.downloadOf(await this.get(id, options), options)
  }

  /** Opens the file as a stream. */
  async stream(id: string, options: DownloadOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return this.streamOf(await this.get(id, options), options)
  }

  /** As `download`, for a record that was read a moment ago. */
  async downloadOf(record: Record, { artifact, signal }: DownloadOptions = {}): Promise<Uint8Array> {
    return this.#transport.file(linkOf(record, artifact), signal)
  }

  /** As `stream`, for a record that was read a moment ago. */
  async streamOf(record: Record, { artifact, signal }: DownloadOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return this.#transport.stream(linkOf(record, artifact), signal)
  }

  async #waitUntil(deadline: number, id: string, { waitTimeout, signal }: CallOptions & { waitTimeout: number }): Promise<Record> {
    const { now, sleep } = this.#transport.timing
    for (;;) {
      const started = now()
      const holdSeconds = toHoldSeconds(deadline - started)
      const { body, headers } = await this.#read(id, holdSeconds, signal)
      if (isFinished(body)) return body
      if (now() >= deadline) throw waitTimedOut(this.#collection, id, waitTimeout)
      // A response before the time is up comes from a service that shuts down or holds no requests, so do not ask again at once.
      const pause = Number(headers.get('retry-after') ?? DEFAULT_POLL_SECONDS) * 1_000
      if (now() - started < holdSeconds * 1_000) await sleep(Math.min(pause, deadline - now()), signal)
    }
  }

  #read(id: string, wait: number | undefined, signal: AbortSignal | undefined) {
    return this.#transport.call<Record>({ method: 'GET', path: this.#pathOf(id), query: { wait }, holdSeconds: wait, signal })
  }
}

/** `tintype.screenshots` */
export class Screenshots extends Captures<Screenshot, ScreenshotRequest, CreatedScreenshot, ScreenshotQuery> {
  constructor(transport: Transport) {
    super(transport, '/screenshots')
  }
}

/** `tintype.videos` */
export class Videos extends Captures<Video, VideoRequest, CreatedVideo, VideoQuery> {
  constructor(transport: Transport) {
    super(transport, '/videos')
  }
}

const isFinished = ({ status }: Pick<Screenshot, 'status'>): boolean => status !== 'pending'

const toHoldSeconds = (milliseconds: number): number => Math.min(MAX_HOLD_SECONDS, Math.max(1, Math.ceil(milliseconds / 1_000)))

/** The call that waits, as a program writes it. */
const waitCallOf = (collection: Collection, id: string): string => `${collection.slice(1)}.wait('${id}')`

const waitTimedOut = (collection: Collection, id: string, waitTimeout: number): TintypeError =>
  new TintypeError(
    `the capture of ${id} did not end within ${waitTimeout / 1_000} seconds. Call ${waitCallOf(collection, id)} to keep waiting, or raise waitTimeout.`,
    { code: 'WAIT_TIMEOUT', details: { id } },
  )

/** Deletes a resource. A retry after a lost response finds nothing, and has succeeded. */
export async function deleteOnce(transport: Transport, path: string, signal: AbortSignal | undefined): Promise<void> {
  let attempts = 0
  try {
    await transport.call({ method: 'DELETE', path, signal }, (number) => {
      attempts = number
    })
  } catch (error) {
    if (attempts === 0 || !(error instanceof TintypeError) || error.status !== 404) throw error
  }
}

/** The link to the file of a record. */
function linkOf(record: Screenshot | Video, artifact: ArtifactType | undefined): string {
  const { id, status, artifacts, download_url: url } = record
  if (status === 'failed') throw new CaptureFailedError(record)
  const collection = 'frames' in record ? '/videos' : '/screenshots'
  if (status === 'pending') throw noFile(id, `the capture of ${id} has not ended. Call ${waitCallOf(collection, id)} first.`)
  const found = artifact === undefined ? { download_url: url } : artifacts.find(({ type }) => type === artifact)
  if (found === undefined) throw noFile(id, `${id} has no artifact ${artifact}. Capture the page with the option that creates it.`)
  if (found.download_url === null) throw noFile(id, `the file of ${id} has expired. Capture the page again.`)
  return found.download_url
}

const noFile = (id: string, message: string): TintypeError => new TintypeError(message, { code: 'FILE_NOT_AVAILABLE', details: { id } })
