import type { Test } from 'tap'
import type { Lease } from '../../../../crds/client/core-resources.ts'
import { type Exchange, sendJson, sendStatus, startScriptedServer } from '../../crds/client/scripted-server.ts'

/** Behavior of the server: normal, rejecting everything, never responding, or executing writes and losing the response. */
export type Mood = 'well' | 'refusing' | 'silent' | 'forgetful'

/** One lease over real HTTP, with the API server's rule that a write must contain the version that it replaces. */
export async function startLeaseServer(t: Test) {
  let lease: Lease | undefined
  let version = 0
  let mood: Mood = 'well'
  const writes: string[] = []

  function write({ body, response, method }: Exchange): void {
    const wanted = body as Lease
    const isTaken = method === 'POST' && lease !== undefined
    const isOld = method === 'PUT' && wanted.metadata.resourceVersion !== lease?.metadata.resourceVersion
    if (isTaken || isOld) {
      sendStatus(response, 409, isTaken ? 'AlreadyExists' : 'Conflict')
      return
    }
    lease = { ...wanted, metadata: { ...wanted.metadata, resourceVersion: String(++version) } }
    writes.push(wanted.spec?.holderIdentity || 'nobody')
    if (mood === 'forgetful') response.destroy()
    else sendJson(response, lease)
  }

  const server = await startScriptedServer(t, (exchange) => {
    if (mood === 'silent') return
    if (mood === 'refusing') sendStatus(exchange.response, 503, 'ServiceUnavailable')
    else if (exchange.method !== 'GET') write(exchange)
    else if (lease) sendJson(exchange.response, lease)
    else sendStatus(exchange.response, 404, 'NotFound')
  })
  return {
    ...server,
    writes,
    lease: () => lease,
    /** Simulates a write of the lease by another client. */
    put(change: Partial<NonNullable<Lease['spec']>>) {
      lease = { metadata: { name: 'tintype', ...lease?.metadata, resourceVersion: String(++version) }, spec: { ...lease?.spec, ...change } }
    },
    behave(next: Mood) {
      mood = next
    },
  }
}
