import { toApiUrl } from './common/api-url.ts'
import { CaptureFailedError, TintypeError } from './common/errors.ts'
import type { CreateOptions, Screenshot, ScreenshotRequest, Video, VideoRequest, WaitOptions } from './common/types.ts'
import { realTiming } from './http/retry.ts'
import { Transport } from './http/transport.ts'
import { Batches } from './resources/batches.ts'
import { Keys } from './resources/keys.ts'
import { Schedules } from './resources/schedules.ts'
import { Screenshots, Videos } from './resources/screenshots.ts'
import { Devices, Status, UsageReports } from './resources/service.ts'
import { Webhooks } from './resources/webhooks.ts'

const DEFAULT_TIMEOUT_MILLISECONDS = 30_000
const DEFAULT_RETRIES = 5

export interface TintypeOptions {
  /** URL of the service, such as `https://tintype.example.com`. */
  baseUrl: string
  /** Without it, only `status.get` works. Never put it into a public web page. */
  apiKey?: string | undefined
  /** Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined
  /** Milliseconds without progress until a request fails, besides the time for which it waits for a capture. Default: 30000. */
  timeout?: number | undefined
  /** How often a request is repeated after a failure that may pass. Default: 5. */
  retries?: number | undefined
}

export type CaptureRequest = ScreenshotRequest & CreateOptions & WaitOptions

export interface Capture {
  /** The file. */
  bytes: Uint8Array
  /** The record. */
  screenshot: Screenshot
}

export type RecordingRequest = VideoRequest & CreateOptions & WaitOptions

export interface Recording {
  /** The file. */
  bytes: Uint8Array
  /** The record. */
  video: Video
}

export interface CaptureStream {
  /** The file. Read or cancel it. */
  stream: ReadableStream<Uint8Array>
  /** The record. */
  screenshot: Screenshot
}

/** A client of one Tintype service, for one account. */
export class Tintype {
  readonly screenshots: Screenshots
  readonly videos: Videos
  readonly batches: Batches
  readonly schedules: Schedules
  readonly webhooks: Webhooks
  readonly keys: Keys
  readonly usage: UsageReports
  readonly devices: Devices
  readonly status: Status

  constructor({
    baseUrl,
    apiKey,
    fetch = globalThis.fetch,
    timeout = DEFAULT_TIMEOUT_MILLISECONDS,
    retries = DEFAULT_RETRIES,
  }: TintypeOptions) {
    if (apiKey !== undefined && !/^[!-~]+$/.test(apiKey)) {
      throw new TintypeError('apiKey is empty or contains a space or a line break. Set it to the value that POST /keys returned.', {
        code: 'INVALID_CONFIGURATION',
      })
    }
    // Browsers refuse a fetch that is called as a method of another object.
    const send: typeof fetch = (input, init) => fetch(input, init)
    const transport = new Transport({ apiUrl: toApiUrl(baseUrl), apiKey, fetch: send, timeout, retries, timing: realTiming })
    this.screenshots = new Screenshots(transport)
    this.videos = new Videos(transport)
    this.batches = new Batches(transport)
    this.schedules = new Schedules(transport)
    this.webhooks = new Webhooks(transport)
    this.keys = new Keys(transport)
    this.usage = new UsageReports(transport)
    this.devices = new Devices(transport)
    this.status = new Status(transport)
  }

  /** Captures a page, and resolves to the file and its record. Rejects with a CaptureFailedError if the capture fails. */
  async capture(request: CaptureRequest): Promise<Capture> {
    const screenshot = await this.#captureRecord(request)
    return { bytes: await this.screenshots.downloadOf(screenshot, { signal: request.signal }), screenshot }
  }

  /** As `capture`, with the file as a stream. */
  async captureStream(request: CaptureRequest): Promise<CaptureStream> {
    const screenshot = await this.#captureRecord(request)
    return { stream: await this.screenshots.streamOf(screenshot, { signal: request.signal }), screenshot }
  }

  /** Records a video of a page, and resolves to the file and its record. Rejects with a CaptureFailedError if the recording fails. */
  async record(request: RecordingRequest): Promise<Recording> {
    const video = await this.videos.createAndWait(request)
    if (video.status === 'failed') throw new CaptureFailedError(video)
    return { bytes: await this.videos.downloadOf(video, { signal: request.signal }), video }
  }

  async #captureRecord(request: CaptureRequest): Promise<Screenshot> {
    const screenshot = await this.screenshots.createAndWait(request)
    if (screenshot.status === 'failed') throw new CaptureFailedError(screenshot)
    return screenshot
  }
}
