import type net from 'node:net'
import type { OpenRequestLog, RequestLogEntry } from './request-log.ts'

/** Counts what crosses one socket on behalf of one entry, and tells when the whole capture has used up its bytes. */
export interface Meter {
  /** Adds what has crossed since the last call. */
  read: () => void
}

/** @param onSpent called once the request log's sum passes `maxBytes` */
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
