// One capture's network activity as the guard saw it. The runner classifies failures by this log, never by Chromium's text:
// Chromium reports every connection that was not made as ERR_SOCKS_CONNECTION_FAILED.

import type net from 'node:net'
import { type EgressCode, EgressError, RefusedHostError, systemCodeOf } from './egress-error.ts'
import type { Refusal } from './refusal.ts'

/** One connection, or one request of plain http through a parent proxy that reads requests. */
export interface RequestLogEntry {
  /** Milliseconds since the epoch. */
  at: number
  host: string
  port: number
  /** The IP address that the guard connected to; absent if there was none, or if a parent proxy connected. */
  address?: string
  /** `pending` until the guard has resolved, checked and connected. */
  decision: 'pending' | 'allowed' | 'refused' | 'failed'
  code?: EgressCode
  /** Reason for the log. May name private addresses. */
  reason?: string
  /** Message for the client, if there is one better than the general message of the code. */
  publicMessage?: string
  /** System code such as ECONNREFUSED or ENOTFOUND. */
  error?: string
  bytesSent: number
  bytesReceived: number
}

/** The entries of one capture, oldest first, and their totals. */
export interface RequestLog {
  readonly entries: readonly RequestLogEntry[]
  readonly bytesSent: number
  readonly bytesReceived: number
  /** What the capture policy of the API key has refused, each host once for each list. */
  readonly refusals: readonly Refusal[]
  /** Number of connections and requests, including those beyond MAX_LOG_ENTRIES. */
  readonly total: number
  /** True once the capture has used up its bytes. The page no longer looks as it should. */
  readonly isExhausted: boolean
}

/** Maximum number of entries. Further requests are counted without an entry. */
export const MAX_LOG_ENTRIES = 5_000
/** Maximum number of refusals. */
const MAX_REFUSALS = 100

const REFUSALS: ReadonlySet<EgressCode> = new Set(['BLOCKED_ADDRESS', 'RESOURCE_LIMIT', 'URL_NOT_ALLOWED'])

/** The writable {@link RequestLog}, for the guard. */
export class OpenRequestLog implements RequestLog {
  readonly entries: RequestLogEntry[] = []
  readonly refusals: Refusal[] = []
  bytesSent = 0
  bytesReceived = 0
  total = 0
  isExhausted = false
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  open(host: string, port: number): RequestLogEntry {
    const entry: RequestLogEntry = { at: this.#now(), host, port, decision: 'pending', bytesSent: 0, bytesReceived: 0 }
    this.total += 1
    if (this.entries.length < MAX_LOG_ENTRIES) this.entries.push(entry)
    return entry
  }

  count(entry: RequestLogEntry, sent: number, received: number): void {
    entry.bytesSent += sent
    entry.bytesReceived += received
    this.bytesSent += sent
    this.bytesReceived += received
  }

  allow(entry: RequestLogEntry, address: string | undefined): void {
    entry.decision = 'allowed'
    if (address !== undefined) entry.address = address
  }

  refuse(refusal: Refusal): void {
    const isKnown = this.refusals.some(({ field, host }) => field === refusal.field && host === refusal.host)
    if (!isKnown && this.refusals.length < MAX_REFUSALS) this.refusals.push(refusal)
  }

  /** Records why a request failed. This may also happen after the connection was made (a reset, an incomplete response). */
  fail(entry: RequestLogEntry, error: unknown): void {
    const cause =
      error instanceof EgressError
        ? error
        : new EgressError('NAVIGATION_FAILED', String(error), { systemCode: systemCodeOf(error), cause: error })
    entry.decision = REFUSALS.has(cause.code) ? 'refused' : 'failed'
    if (cause instanceof RefusedHostError) this.refuse(cause.refusal)
    entry.code = cause.code
    entry.reason = cause.message
    if (cause.publicMessage !== undefined) entry.publicMessage = cause.publicMessage
    if (cause.systemCode !== undefined) entry.error = cause.systemCode
  }
}

/** Counts the bytes of one socket for one log entry, and reports when the capture has used up its bytes. */
export interface Meter {
  /** Adds the bytes transferred since the last call. */
  read: () => void
}

/** @param onSpent called when the total in the request log exceeds `maxBytes` */
export const createMeter = (
  socket: net.Socket,
  entry: RequestLogEntry,
  requestLog: OpenRequestLog,
  maxBytes: number,
  onSpent: () => void,
): Meter => {
  let { bytesRead, bytesWritten } = socket
  return {
    read: () => {
      requestLog.count(entry, socket.bytesWritten - bytesWritten, socket.bytesRead - bytesRead)
      bytesRead = socket.bytesRead
      bytesWritten = socket.bytesWritten
      if (requestLog.bytesReceived + requestLog.bytesSent > maxBytes) onSpent()
    },
  }
}
