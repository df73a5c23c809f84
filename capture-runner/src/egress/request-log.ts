// What one capture did on the network, as the guard saw it. The runner classifies failures from here and never from Chromium's text:
// every connection that was not made reads ERR_SOCKS_CONNECTION_FAILED there.

import { type EgressCode, EgressError, systemCodeOf } from './egress-error.ts'

/** One connection; of plain http through a parent proxy that reads requests, one request. */
export interface RequestLogEntry {
  /** Milliseconds since the epoch. */
  at: number
  host: string
  port: number
  /** The address that was dialled; absent when none was, or when a parent proxy dialled. */
  address?: string
  /** `pending` until the guard has resolved, checked and dialled. */
  decision: 'pending' | 'allowed' | 'refused' | 'failed'
  code?: EgressCode
  /** A sentence for the operator's log. May name private addresses. */
  reason?: string
  /** A sentence for the client, where there is a better one than the code's own. */
  publicMessage?: string
  /** ECONNREFUSED, ENOTFOUND and the like. */
  error?: string
  bytesSent: number
  bytesReceived: number
}

/** The entries of one capture, oldest first, and their sums. */
export interface RequestLog {
  readonly entries: readonly RequestLogEntry[]
  readonly bytesSent: number
  readonly bytesReceived: number
  /** Connections and requests seen, also those that no longer have an entry of their own. */
  readonly total: number
  /** True once the capture has used up its bytes: what the page shows now is not the page. */
  readonly isExhausted: boolean
}

/** Entries kept; a page that asks more often is counted but not told apart. */
export const MAX_LOG_ENTRIES = 5_000

/** The guard's side of a {@link RequestLog}. */
export class OpenRequestLog implements RequestLog {
  readonly entries: RequestLogEntry[] = []
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

  /** Records why nothing came of it. A failure after the connection was made (a reset, a cut answer) lands here too. */
  fail(entry: RequestLogEntry, error: unknown): void {
    const cause =
      error instanceof EgressError
        ? error
        : new EgressError('NAVIGATION_FAILED', String(error), { systemCode: systemCodeOf(error), cause: error })
    entry.decision = cause.code === 'BLOCKED_ADDRESS' || cause.code === 'RESOURCE_LIMIT' ? 'refused' : 'failed'
    entry.code = cause.code
    entry.reason = cause.message
    if (cause.publicMessage !== undefined) entry.publicMessage = cause.publicMessage
    if (cause.systemCode !== undefined) entry.error = cause.systemCode
  }
}
