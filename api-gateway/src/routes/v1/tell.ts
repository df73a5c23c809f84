import type { FastifyReply } from 'fastify'
import type { Turn } from '../../create/idempotency.ts'

const MAX_TOLD = 32
const MAX_NAME = 64

/** Tells a caller that asked for leniency which names were not understood. */
export function tellIgnored(reply: FastifyReply, ignored: readonly string[]): FastifyReply {
  if (ignored.length === 0) return reply
  // Names are the caller's: only what a header may hold goes back.
  const names = ignored.map((name) => name.replaceAll(/[^\x21-\x7e]/g, '?').slice(0, MAX_NAME)).slice(0, MAX_TOLD)
  return reply.headers({ 'preference-applied': 'handling=lenient', 'x-ignored-options': names.join(', ') })
}

/** Tells that this is the answer to an earlier request with the same Idempotency-Key. */
export const tellReplayed = (reply: FastifyReply, { isRepeated }: Pick<Turn, 'isRepeated'>): FastifyReply =>
  isRepeated ? reply.header('idempotent-replayed', 'true') : reply

/** Tells the place of a screenshot that waits. */
export const tellPlace = (reply: FastifyReply, place: number | undefined): FastifyReply =>
  place === undefined ? reply : reply.header('x-queue-position', String(place))
