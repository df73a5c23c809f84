// What one capture did on the network, as the guard saw it. The runner classifies failures from here and never from Chromium's text:
// every connection that was not made reads ERR_SOCKS_CONNECTION_FAILED there.

import { type EgressCode, EgressError, systemCodeOf } from './egress-error.ts'

/** One connection; of plain http through a parent proxy that reads requests, one request. */
export interface LedgerEntry {
  /** Milliseconds since the epoch. */
  at: number
  host: string
  port: number
  /** The address that was dialled; absent when none was, or when a parent proxy dialled. */
  address?: string
  /** `pending` until the guard has resolved, checked and dialled. */
  verdict: 'pending' | 'allowed' | 'refused' | 'failed'
  code?: EgressCode
  /** A sentence for the operator's log. May name private addresses. */
  reason?: string
  /** A sentence for the client, where there is a better one than the code's own. */
  told?: string
  /** ECONNREFUSED, ENOTFOUND and the like. */
  error?: string
  bytesSent: number
  bytesReceived: number
}

/** The entries of one capture, oldest first, and their sums. */
export interface Ledger {
  readonly entries: readonly LedgerEntry[]
  readonly bytesSent: number
  readonly bytesReceived: number
  /** Connections and requests seen, also those that no longer have an entry of their own. */
  readonly total: number
  /** True once the capture has used up its bytes: what the page shows now is not the page. */
  readonly isExhausted: boolean
}

/** Entries kept; a page that asks more often is counted but not told apart. */
export const MAX_LEDGER_ENTRIES = 5_000

/** The guard's side of a {@link Ledger}. */
export class LedgerBook implements Ledger {
  readonly entries: LedgerEntry[] = []
  bytesSent = 0
  bytesReceived = 0
  total = 0
  isExhausted = false
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  open(host: string, port: number): LedgerEntry {
    const entry: LedgerEntry = { at: this.#now(), host, port, verdict: 'pending', bytesSent: 0, bytesReceived: 0 }
    this.total += 1
    if (this.entries.length < MAX_LEDGER_ENTRIES) this.entries.push(entry)
    return entry
  }

  count(entry: LedgerEntry, sent: number, received: number): void {
    entry.bytesSent += sent
    entry.bytesReceived += received
    this.bytesSent += sent
    this.bytesReceived += received
  }

  allow(entry: LedgerEntry, address: string | undefined): void {
    entry.verdict = 'allowed'
    if (address !== undefined) entry.address = address
  }

  /** Records why nothing came of it. A failure after the connection was made (a reset, a cut answer) lands here too. */
  fail(entry: LedgerEntry, error: unknown): void {
    const cause =
      error instanceof EgressError
        ? error
        : new EgressError('NAVIGATION_FAILED', String(error), { systemCode: systemCodeOf(error), cause: error })
    entry.verdict = cause.code === 'BLOCKED_ADDRESS' || cause.code === 'RESOURCE_LIMIT' ? 'refused' : 'failed'
    entry.code = cause.code
    entry.reason = cause.message
    if (cause.told !== undefined) entry.told = cause.told
    if (cause.systemCode !== undefined) entry.error = cause.systemCode
  }
}
