import { CaptureFailedError, TintypeError } from '../common/errors.ts'
import { List, type Page } from '../common/list.ts'
import type {
  ArtifactType,
  BatchFields,
  CallOptions,
  CreatedScreenshot,
  CreateOptions,
  Screenshot,
  ScreenshotFields,
  ScreenshotQuery,
  ScreenshotRequest,
  WaitOptions,
} from '../common/types.ts'
import { newIdempotencyKey, type Transport } from '../http/transport.ts'

/** The service holds a request for at most this long. */
const MAX_HOLD_SECONDS = 25
const DEFAULT_WAIT_MILLISECONDS = 300_000
const DEFAULT_POLL_SECONDS = 2

export interface DownloadOptions extends CallOptions {
  /** Type of the file in `artifacts` to read instead of the picture. */
  artifact?: ArtifactType | undefined
}

/** Fields of a request that the API expects beside `options`. All others are capture options. */
const FIELDS: Readonly<Record<keyof ScreenshotFields | keyof BatchFields, true>> = {
  url: true,
  urls: true,
  external_identifier: true,
  attachment_name: true,
  download_url_ttl: true,
  retention_days: true,
  webhook_url: true,
  webhook_events: true,
}

/** The body of a request whose options are beside its fields. */
export function toCreateBody(request: object): object {
  const entries = Object.entries(request).filter(([, value]) => value !== undefined)
  const fields = entries.filter(([name]) => Object.hasOwn(FIELDS, name))
  const options = entries.filter(([name]) => !Object.hasOwn(FIELDS, name))
  return { ...Object.fromEntries(fields), ...(options.length === 0 ? {} : { options: Object.fromEntries(options) }) }
}

interface ScreenshotPage {
  data: Screenshot[]
  pagination: { has_more: boolean; next_cursor: string | null }
}

const pathOf = (id: string): string => `/screenshots/${encodeURIComponent(id)}`

/** `tintype.screenshots` */
export class Screenshots {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Creates a screenshot and resolves at once. Use `wait` to wait for the capture. */
  async create({
    signal,
    idempotencyKey = newIdempotencyKey(),
    ...request
  }: ScreenshotRequest & CreateOptions): Promise<CreatedScreenshot> {
    const body = toCreateBody(request)
    return (await this.#transport.call<CreatedScreenshot>({ method: 'POST', path: '/screenshots', body, idempotencyKey, signal })).body
  }

  /** Creates a screenshot and waits for its end. Resolves to the record, also if the capture failed. */
  async createAndWait({
    signal,
    waitTimeout = DEFAULT_WAIT_MILLISECONDS,
    idempotencyKey = newIdempotencyKey(),
    ...request
  }: ScreenshotRequest & CreateOptions & WaitOptions): Promise<Screenshot> {
    const deadline = this.#transport.timing.now() + waitTimeout
    const holdSeconds = toHoldSeconds(waitTimeout)
    const { status, body } = await this.#transport.call<Screenshot>({
      method: 'POST',
      path: '/screenshots',
      query: { wait: holdSeconds },
      body: toCreateBody(request),
      idempotencyKey,
      holdSeconds,
      signal,
    })
    return status === 200 && isFinished(body) ? body : this.#waitUntil(deadline, body.id, { waitTimeout, signal })
  }

  /** Reads a record. `wait` is the number of seconds for which the service holds the request while the capture is pending, 1 to 25. */
  async get(id: string, { wait, signal }: CallOptions & { wait?: number | undefined } = {}): Promise<Screenshot> {
    return (await this.#read(id, wait, signal)).body
  }

  /** Waits for the end of a capture. Resolves to the record, also if the capture failed. */
  async wait(id: string, { waitTimeout = DEFAULT_WAIT_MILLISECONDS, signal }: WaitOptions = {}): Promise<Screenshot> {
    return this.#waitUntil(this.#transport.timing.now() + waitTimeout, id, { waitTimeout, signal })
  }

  /**
   * Lists screenshots, newest first, and reads further pages while you iterate. `limit` is the number of records per page; `break` ends the list.
   */
  list({ signal, offset, ...filters }: ScreenshotQuery & CallOptions = {}): List<Screenshot> {
    const read = async (start: { offset?: number | undefined; cursor?: string }): Promise<Page<Screenshot>> => {
      const query = { ...filters, ...start }
      const { body } = await this.#transport.call<ScreenshotPage>({ method: 'GET', path: '/screenshots', query, signal })
      const cursor = body.pagination.has_more ? body.pagination.next_cursor : null
      return { data: body.data, next: cursor === null ? undefined : () => read({ cursor }) }
    }
    return new List(() => read({ offset }))
  }

  /** Deletes a record and its files, invalidates its links, and cancels a running capture. */
  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await deleteOnce(this.#transport, pathOf(id), signal)
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
  async downloadOf(screenshot: Screenshot, { artifact, signal }: DownloadOptions = {}): Promise<Uint8Array> {
    return this.#transport.file(linkOf(screenshot, artifact), signal)
  }

  /** As `stream`, for a record that was read a moment ago. */
  async streamOf(screenshot: Screenshot, { artifact, signal }: DownloadOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return this.#transport.stream(linkOf(screenshot, artifact), signal)
  }

  async #waitUntil(deadline: number, id: string, { waitTimeout, signal }: CallOptions & { waitTimeout: number }): Promise<Screenshot> {
    const { now, sleep } = this.#transport.timing
    for (;;) {
      const started = now()
      const holdSeconds = toHoldSeconds(deadline - started)
      const { body, headers } = await this.#read(id, holdSeconds, signal)
      if (isFinished(body)) return body
      if (now() >= deadline) throw waitTimedOut(id, waitTimeout)
      // A response before the time is up comes from a service that shuts down or holds no requests, so do not ask again at once.
      const pause = Number(headers.get('retry-after') ?? DEFAULT_POLL_SECONDS) * 1_000
      if (now() - started < holdSeconds * 1_000) await sleep(Math.min(pause, deadline - now()), signal)
    }
  }

  #read(id: string, wait: number | undefined, signal: AbortSignal | undefined) {
    return this.#transport.call<Screenshot>({ method: 'GET', path: pathOf(id), query: { wait }, holdSeconds: wait, signal })
  }
}

const isFinished = ({ status }: Pick<Screenshot, 'status'>): boolean => status !== 'pending'

const toHoldSeconds = (milliseconds: number): number => Math.min(MAX_HOLD_SECONDS, Math.max(1, Math.ceil(milliseconds / 1_000)))

const waitTimedOut = (id: string, waitTimeout: number): TintypeError =>
  new TintypeError(
    `the capture of ${id} did not end within ${waitTimeout / 1_000} seconds. Call screenshots.wait('${id}') to keep waiting, or raise waitTimeout.`,
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
function linkOf(screenshot: Screenshot, artifact: ArtifactType | undefined): string {
  const { id, status, artifacts, download_url: url } = screenshot
  if (status === 'failed') throw new CaptureFailedError(screenshot)
  if (status === 'pending') throw noFile(id, `the capture of ${id} has not ended. Call screenshots.wait('${id}') first.`)
  const found = artifact === undefined ? { download_url: url } : artifacts.find(({ type }) => type === artifact)
  if (found === undefined) throw noFile(id, `${id} has no artifact ${artifact}. Capture the page with the option that creates it.`)
  if (found.download_url === null) throw noFile(id, `the file of ${id} has expired. Capture the page again.`)
  return found.download_url
}

const noFile = (id: string, message: string): TintypeError => new TintypeError(message, { code: 'FILE_NOT_AVAILABLE', details: { id } })
