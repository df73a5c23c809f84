// rbac: /events create

import type { Event } from '@tintype/crds/client/kinds'
import type { KubeObject } from '@tintype/crds/client/kube-object'
import type { Log } from '@tintype/crds/client/log'
import type { NewObject, Resource } from '@tintype/crds/client/resource'
import { LRUCache } from 'lru-cache'

/** The object that an Event is about. */
export type Regarding = KubeObject & { kind: string; apiVersion: string }

/** Records Kubernetes Events about problems. Each Event is a write, so nothing is recorded while all is normal. */
export interface EventRecorder {
  /** Records a Warning event. Repetitions within some minutes, and too many of one object, are dropped. Never throws. */
  warn(object: Regarding, reason: string, message: string): void
  /** Records a Normal event when a reported problem clears. */
  normal(object: Regarding, reason: string, message: string): void
}

export interface EventRecorderOptions {
  events: Pick<Resource<Event>, 'create'>
  /** Name of the operator's pod. */
  instance: string
  filter?: EventFilter
  log: Log
  now: () => number
}

/** As in client-go: a burst of 25 Events an object, one more every 300 s. */
const BURST = 25
const REFILL_MILLISECONDS = 300_000
/** An identical Event about the same object within this time is dropped. */
const REPEAT_MILLISECONDS = 300_000
const MAX_REMEMBERED = 4_096
const MAX_MESSAGE = 1_024

interface Memory {
  tokens: number
  at: number
  messages: Map<string, number>
}

/** Rate-limits Events by object and text. Pure except for its memory. */
export class EventFilter {
  readonly #objects = new LRUCache<string, Memory>({ max: MAX_REMEMBERED })

  /** True when the Event may be recorded now. */
  admits(uid: string, text: string, now: number): boolean {
    const memory = this.#objects.get(uid) ?? { tokens: BURST, at: now, messages: new Map() }
    this.#objects.set(uid, memory)
    const refilled = Math.floor((now - memory.at) / REFILL_MILLISECONDS)
    memory.tokens = Math.min(BURST, memory.tokens + refilled)
    memory.at += refilled * REFILL_MILLISECONDS
    const before = memory.messages.get(text)
    if (memory.tokens === 0 || (before !== undefined && now - before < REPEAT_MILLISECONDS)) return false
    for (const [message, since] of memory.messages) if (now - since >= REPEAT_MILLISECONDS) memory.messages.delete(message)
    memory.messages.set(text, now)
    memory.tokens--
    return true
  }
}

/** Records Events at the API server. */
export function createEventRecorder({ events, instance, filter = new EventFilter(), log, now }: EventRecorderOptions): EventRecorder {
  const record = (type: EventType, object: Regarding, reason: string, message: string): void => {
    if (!filter.admits(object.metadata.uid ?? '', `${reason} ${message}`, now())) return
    events
      .create(buildEvent(object, { type, reason, message, instance, at: new Date(now()) }), {
        namespace: object.metadata.namespace,
        repeat: 'never',
      })
      .catch((error: unknown) => log.debug({ reason, err: error }, 'event not recorded'))
  }
  return {
    warn: (object, reason, message) => record('Warning', object, reason, message),
    normal: (object, reason, message) => record('Normal', object, reason, message),
  }
}

type EventType = 'Normal' | 'Warning'

/** Builds an Event. The API server generates its name. */
export function buildEvent(
  { apiVersion, kind, metadata }: Regarding,
  { type = 'Warning', reason, message, instance, at }: { type?: EventType; reason: string; message: string; instance: string; at: Date },
): NewObject<Event> {
  const { name, namespace, uid, resourceVersion } = metadata
  const time = at.toISOString().replace(/\.\d+Z$/, 'Z')
  return {
    metadata: { generateName: `${name}.`, namespace },
    involvedObject: { apiVersion, kind, name, namespace, uid, resourceVersion },
    type,
    reason,
    message: message.slice(0, MAX_MESSAGE),
    action: 'Reconcile',
    source: { component: 'tintype-operator' },
    reportingComponent: 'tintype.dev/operator',
    reportingInstance: instance,
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  } as NewObject<Event>
}
