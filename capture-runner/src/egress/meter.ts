import type net from 'node:net'
import type { OpenRequestLog, RequestLogEntry } from './request-log.ts'

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
