import type { FastifyReply } from 'fastify'

/** Of authenticated responses, unless the handler sets another: a client asks each time whether its copy is current. */
export const NO_CACHE = { 'cache-control': 'private, no-cache' }
/** Of responses with a secret. */
export const NO_STORE = { 'cache-control': 'private, no-store' }

const MAX_LISTED_NAMES = 32
const MAX_NAME_LENGTH = 64

/** Lists the unknown names that a request with `Prefer: handling=lenient` contained. */
export function setIgnoredOptionsHeader(reply: FastifyReply, ignored: readonly string[]): void {
  if (ignored.length === 0) return
  // The names come from the request, so only characters that a header may contain are sent back.
  const names = ignored.map((name) => name.replaceAll(/[^\x21-\x7e]/g, '?').slice(0, MAX_NAME_LENGTH)).slice(0, MAX_LISTED_NAMES)
  reply.headers({ 'preference-applied': 'handling=lenient', 'x-ignored-options': names.join(', ') })
}

/** Marks the response to a repeated request with the same Idempotency-Key. */
export const setReplayedHeader = (reply: FastifyReply, { isRepeated }: { isRepeated: boolean }): FastifyReply =>
  isRepeated ? reply.header('idempotent-replayed', 'true') : reply

/** Sends the queue position of a screenshot that is still queued. */
export const setQueuePositionHeader = (reply: FastifyReply, position: number | undefined): FastifyReply =>
  position === undefined ? reply : reply.header('x-queue-position', String(position))
