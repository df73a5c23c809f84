import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Requests of one connection that may wait for earlier ones. HTTP clients rarely send a request before they have read the last response. */
export const MAX_WAITING = 64

/**
 * Handles the requests of a connection one after the other. Node.js starts all requests of a packet at once, although their responses have to be sent in
 * order: a thousand requests for a file then open it a thousand times. Must be added before all other hooks.
 */
export function addPipelining(app: FastifyInstance): void {
  const waitingOf = new WeakMap<Socket, (() => void)[]>()
  const startNext = (socket: Socket): void => {
    const next = socket.destroyed ? undefined : waitingOf.get(socket)?.shift()
    if (next) next()
    else waitingOf.delete(socket)
  }
  app.addHook('onRequest', ({ raw: { socket } }, reply, done) => {
    // The response emits `close` when it was sent, and when its connection is gone.
    const start = (): void => {
      reply.raw.once('close', () => startNext(socket))
      done()
    }
    const waiting = waitingOf.get(socket)
    if (!waiting) {
      waitingOf.set(socket, [])
      start()
    } else if (waiting.length < MAX_WAITING) waiting.push(start)
    else socket.destroy()
  })
}
