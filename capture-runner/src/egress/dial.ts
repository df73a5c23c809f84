// Connects to the first of several checked addresses that accepts. Node's own happy eyeballs aborts an attempt after 250 ms.
// Here a slow attempt continues while the next address is tried (RFC 8305).

import net from 'node:net'
import { EgressError, systemCodeOf } from './egress-error.ts'

/** Delay before the next address is tried as well, and the limit for all attempts together. */
export interface DialTimes {
  headStartMilliseconds: number
  connectTimeoutMilliseconds: number
}

const describe = (addresses: readonly string[], port: number): string =>
  addresses.map((address) => (net.isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`)).join(', ')

/**
 * @param addresses IP addresses in order of preference; this function resolves no names
 * @throws EgressError NAVIGATION_FAILED with the last attempt's system code
 */
export const dial = (addresses: readonly string[], port: number, times: DialTimes): Promise<net.Socket> =>
  new Promise((resolve, reject) => {
    const attempts = new Set<net.Socket>()
    let next = 0
    let headStart: NodeJS.Timeout | undefined

    const finish = (): void => {
      clearTimeout(headStart)
      clearTimeout(deadline)
      for (const attempt of attempts) attempt.destroy()
    }
    const fail = (systemCode: string | undefined, cause?: unknown): void => {
      finish()
      reject(new EgressError('NAVIGATION_FAILED', `no connection to ${describe(addresses, port)} (${systemCode})`, { systemCode, cause }))
    }
    const succeed = (socket: net.Socket): void => {
      attempts.delete(socket)
      finish()
      // The `close` event reports the end. An `error` event without a listener would end the process.
      socket.on('error', () => {})
      resolve(socket)
    }
    const tryNext = (): void => {
      clearTimeout(headStart)
      const address = addresses[next++]
      if (address === undefined) return
      const socket = net.connect({ host: address, port, allowHalfOpen: true, noDelay: true })
      attempts.add(socket)
      socket.once('connect', () => succeed(socket))
      socket.once('error', (error) => {
        attempts.delete(socket)
        socket.destroy()
        if (next < addresses.length) tryNext()
        else if (attempts.size === 0) fail(systemCodeOf(error), error)
      })
      if (next < addresses.length) headStart = setTimeout(tryNext, times.headStartMilliseconds)
    }
    const deadline = setTimeout(() => fail('ETIMEDOUT'), times.connectTimeoutMilliseconds)
    if (addresses.length === 0) fail('EADDRNOTAVAIL')
    else tryNext()
  })
