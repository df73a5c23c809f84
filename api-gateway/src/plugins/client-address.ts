import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

const MAPPED = /^::ffff:(?=\d+\.)/i

/**
 * IP address of the client, for logs and traces. Behind a trusted proxy it is the last address of X-Forwarded-For that is not a trusted proxy, and
 * otherwise the other end of the connection. Undefined after the connection was closed.
 */
export function clientAddressOf({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string | undefined {
  const address = isIP(ip) === 0 ? socket.remoteAddress : ip
  return address?.replace(MAPPED, '')
}
