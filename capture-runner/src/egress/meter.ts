import type net from 'node:net'
import type { LedgerBook, LedgerEntry } from './request-log.ts'

/** Counts what crosses one socket on behalf of one entry, and tells when the whole capture has used up its bytes. */
export interface Meter {
  /** Adds what has crossed since the last call. */
  read: () => void
}

/** @param onSpent called once the ledger's sum passes `maxBytes` */
export const createMeter = (socket: net.Socket, entry: LedgerEntry, ledger: LedgerBook, maxBytes: number, onSpent: () => void): Meter => {
  let { bytesRead, bytesWritten } = socket
  return {
    read: () => {
      ledger.count(entry, socket.bytesWritten - bytesWritten, socket.bytesRead - bytesRead)
      bytesRead = socket.bytesRead
      bytesWritten = socket.bytesWritten
      if (ledger.bytesReceived + ledger.bytesSent > maxBytes) onSpent()
    },
  }
}
