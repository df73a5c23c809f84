// Decides whether an event happened after a webhook started to receive its type. It compares resourceVersions: Screenshots and Webhooks share
// one store and thus one counter of writes, which does not depend on clocks. Where this process did not see an event, timestamps decide
// (receivers.ts). Standby replicas watch too, so that a takeover keeps the order. ADR 31.

import { resourceVersionOf } from '@tintype/crds/client/kube-object'
import type { Reflector, ReflectorEvent } from '@tintype/crds/client/reflector'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { ConditionType, findCondition } from '@tintype/crds/schema/conditions'
import { type EventType, isCreationEvent } from '@tintype/crds/schema/event-types'

/** Range of revisions in which something was written, both included. */
interface Revisions {
  from: number
  to: number
}

interface Seen {
  queued: Revisions
  ended?: Revisions
}

/** Reflectors whose events give the order. */
export interface EventOrderSources {
  screenshots: Pick<Reflector<Screenshot>, 'addListener'>
  webhooks: Pick<Reflector<Webhook>, 'addListener'>
}

/** Whether an event of a Screenshot came after a webhook's start. */
export type FollowsStart = (webhook: Webhook, screenshot: Screenshot, event: EventType) => boolean | undefined

/** One instance per process; it lives as long as the reflectors. */
export class EventOrder {
  readonly #screenshots = new Map<string, Seen>()
  /** By uid: start of each event type, and of `*` for the webhook as a whole. */
  readonly #starts = new Map<string, Map<string, Revisions>>()

  constructor({ screenshots, webhooks }: EventOrderSources) {
    screenshots.addListener((event) => this.#noteScreenshot(event))
    webhooks.addListener((event) => this.#noteWebhook(event))
  }

  /** True when the event came after the webhook's start, false when before it, undefined when this process does not know. */
  readonly followsStart: FollowsStart = ({ metadata, spec }, screenshot, event) => {
    const start = this.#starts.get(metadata.uid)?.get(spec.isDefault ? ANY : event)
    const seen = this.#screenshots.get(screenshot.metadata.uid)
    const happened = isCreationEvent(event) ? seen?.queued : seen?.ended
    if (!start || !happened) return undefined
    if (happened.from > start.to) return true
    return happened.to < start.from ? false : undefined
  }

  #noteScreenshot(event: ReflectorEvent<Screenshot>): void {
    const { object, type } = event
    const old = oldOf(event)
    const { uid } = object.metadata
    if (type === 'deleted' || (event.old && !old)) this.#screenshots.delete((event.old ?? object).metadata.uid)
    if (type === 'deleted') return
    const now = toRevisions(event)
    const known = this.#screenshots.get(uid)
    const seen: Seen = known && !isOlder(object, known.queued) ? known : { queued: isUntouched(object) ? exactly(object) : now }
    if (!isFinished(object)) delete seen.ended
    else if (!seen.ended || isOlder(object, seen.ended)) seen.ended = old && isFinished(old) ? upTo(object) : now
    this.#screenshots.set(uid, seen)
  }

  #noteWebhook(event: ReflectorEvent<Webhook>): void {
    const { object, type } = event
    const old = oldOf(event)
    const { uid } = object.metadata
    if (type === 'deleted' || (event.old && !old)) this.#starts.delete((event.old ?? object).metadata.uid)
    if (type === 'deleted') return
    const known = this.#starts.get(uid)
    const now = toRevisions(event)
    const isContinued = old !== undefined && receives(old) && accountOf(old) === accountOf(object)
    const toStart = (name: string): [string, Revisions] => {
      const start = isContinued && (name === ANY || old.spec.events.some((known) => known === name)) ? known?.get(name) : undefined
      if (!start) return [name, now]
      return [name, isOlder(object, start) ? upTo(object) : start]
    }
    this.#starts.set(uid, new Map(receives(object) ? [ANY, ...object.spec.events].map(toStart) : []))
  }
}

const ANY = '*'

/** The previous state of the same object. */
const oldOf = <T extends Screenshot | Webhook>({ object, old }: ReflectorEvent<T>): T | undefined =>
  old?.metadata.uid === object.metadata.uid ? old : undefined

const exactly = (object: Screenshot | Webhook): Revisions => ({ from: resourceVersionOf(object), to: resourceVersionOf(object) })
const upTo = (object: Screenshot | Webhook): Revisions => ({ from: 0, to: resourceVersionOf(object) })

/** A watch event is a single write. A list, or the response to an own write, may cover several. */
function toRevisions<T extends Screenshot | Webhook>(event: ReflectorEvent<T>): Revisions {
  const { object, source } = event
  if (source === 'watch') return exactly(object)
  const old = oldOf(event)
  const [from, to] = [old ? resourceVersionOf(old) + 1 : 0, resourceVersionOf(object)]
  return from > to ? upTo(object) : { from, to }
}

/** True when the API server's store was reset to an earlier state: known later revisions are then invalid. */
const isOlder = (object: Screenshot | Webhook, known: Revisions): boolean => resourceVersionOf(object) < known.to

/** True for a Screenshot that was not written since its creation, as far as its fields show. */
const isUntouched = ({ metadata, status }: Screenshot): boolean =>
  Object.keys(status ?? {}).every((field) => field === 'phase') && (status?.phase ?? 'Pending') === 'Pending' && metadata.generation === 1

/** Ready reasons that do not pause a webhook: events that happen meanwhile are delivered later. */
const PASSING = new Set(['Inactive', 'Disabled', 'SecretLeftover'])

/** True while the webhook receives events that happen, even if the operator has not made it ready yet. */
function receives(webhook: Webhook): boolean {
  const ready = findCondition(webhook.status?.conditions, ConditionType.ready)
  return isActive(webhook) && (ready?.status !== 'False' || PASSING.has(ready.reason))
}
