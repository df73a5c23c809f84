/** Exports spans with OTLP over HTTP, as JSON. If the collector is unreachable, spans above a limit are dropped. The programs never wait for an export. */
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import type { Log } from './log.ts'

/** One span. Times are epoch milliseconds. */
export interface Span {
  traceId: string
  spanId: string
  parentSpanId?: string | undefined
  name: string
  kind: 'internal' | 'server' | 'client'
  startMilliseconds: number
  endMilliseconds: number
  attributes: Record<string, string | number | boolean | undefined>
  /** Why the operation failed; absent if it succeeded. */
  error?: string | undefined
}

export interface SpanExporterOptions {
  /** Base URL from OTEL_EXPORTER_OTLP_ENDPOINT, to which `/v1/traces` is appended. */
  endpoint: string
  /** Headers of each request, such as an API key of the collector. */
  headers: Record<string, string>
  /** Resource attributes, such as service.name. */
  resource: Record<string, string>
  log: Log
  /** Milliseconds between two batches. */
  intervalMilliseconds?: number
}

const INTERVAL_MILLISECONDS = 2_000
const MAX_BATCH = 512
const MAX_WAITING = 4_096
const TIMEOUT_MILLISECONDS = 5_000
const KINDS = { internal: 1, server: 2, client: 3 }
const STATUS_ERROR = 2

export class SpanExporter {
  readonly #options: SpanExporterOptions
  readonly #waiting: Span[] = []
  readonly #stopping = new AbortController()
  readonly #run: Promise<void>
  #dropped = 0

  constructor(options: SpanExporterOptions) {
    this.#options = options
    this.#run = this.#loop()
  }

  /** Queues a span. Never fails. */
  add(span: Span): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(span)
    else this.#dropped++
  }

  /** Sends the queued spans once, and stops. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#run
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stopping
    const { intervalMilliseconds = INTERVAL_MILLISECONDS } = this.#options
    while (!signal.aborted) {
      await sleep(intervalMilliseconds, undefined, { signal, ref: false }).catch(() => {})
      while (this.#waiting.length > 0 && (await this.#send(this.#waiting.splice(0, MAX_BATCH)))) {
        // Sends one batch after the other.
      }
    }
  }

  async #send(spans: readonly Span[]): Promise<boolean> {
    const { endpoint, headers, log } = this.#options
    try {
      const { statusCode, body } = await request(`${endpoint.replace(/\/+$/, '')}/v1/traces`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(this.#toRequest(spans)),
        signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
      })
      await body.dump()
      if (statusCode >= 300) throw new Error(`the collector responded with ${statusCode}`)
      if (this.#dropped > 0) log.warn({ dropped: this.#dropped }, 'spans dropped')
      this.#dropped = 0
      return true
    } catch (error) {
      this.#dropped += spans.length
      log.debug({ err: error, dropped: this.#dropped }, 'span export failed')
      return false
    }
  }

  #toRequest(spans: readonly Span[]): unknown {
    const { resource } = this.#options
    return {
      resourceSpans: [
        { resource: { attributes: toAttributes(resource) }, scopeSpans: [{ scope: { name: 'tintype' }, spans: spans.map(toOtlp) }] },
      ],
    }
  }
}

const toOtlp = ({ kind, startMilliseconds, endMilliseconds, attributes, error, parentSpanId, ...span }: Span): unknown => ({
  ...span,
  ...(parentSpanId === undefined ? {} : { parentSpanId }),
  kind: KINDS[kind],
  startTimeUnixNano: toNanoseconds(startMilliseconds),
  endTimeUnixNano: toNanoseconds(Math.max(startMilliseconds, endMilliseconds)),
  attributes: toAttributes(attributes),
  ...(error === undefined ? {} : { status: { code: STATUS_ERROR, message: error } }),
})

const toNanoseconds = (milliseconds: number): string => String(BigInt(Math.round(milliseconds * 1_000)) * 1_000n)

const toAttributes = (attributes: Span['attributes']): unknown[] =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: toValue(value) }]))

function toValue(value: string | number | boolean): unknown {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
