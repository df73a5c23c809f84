import { events } from '@tintype/crds/client/kinds'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import type { Log } from '@tintype/crds/client/log'
import { Resource } from '@tintype/crds/client/resource'
import type { MayWrite } from '@tintype/crds/runtime/fence'
import { createEventRecorder, type EventFilter, type EventRecorder } from '../kube/event-recorder.ts'
import { openStorage, type Storage } from '../storage/storage.ts'
import type { Config } from './config.ts'

/**
 * One term of leadership. Once the lease is lost, its clients refuse each request that writes, with a FencedError. So controllers do not ask
 * whether they lead.
 */
export interface Term {
  /** Aborted at the end of the term. Work that runs then may still write while the lease is held. */
  signal: AbortSignal
  /** Whether new work may start. */
  mayStart: () => boolean
  /** False 10 s after the last renewal of the lease, whatever else has happened. Other clients of a term also ask it before each write. */
  mayWrite: MayWrite
  http: KubeHttp
  storage: Storage
  events: EventRecorder
}

export interface TermOptions {
  signal: AbortSignal
  mayWrite: MayWrite
  http: KubeHttp
  config: Config
  /** Remembers Events of earlier terms. */
  eventFilter: EventFilter
  log: Log
  now: () => number
}

/** Opens the clients of a term. */
export function openTerm({ signal, mayWrite, http, config, eventFilter, log, now }: TermOptions): Term {
  const fenced = http.fenced(mayWrite)
  return {
    signal,
    mayStart: () => !signal.aborted && mayWrite(),
    mayWrite,
    http: fenced,
    storage: openStorage(config.storage, { uploads: config.uploads, mayWrite }),
    events: createEventRecorder({
      events: new Resource(fenced, events, { namespace: config.namespace }),
      instance: config.podName,
      filter: eventFilter,
      log,
      now,
    }),
  }
}
