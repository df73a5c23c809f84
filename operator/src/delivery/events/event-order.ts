// Whether an event happened after a webhook began to receive its type, by the revisions of the API server: Screenshots and Webhooks share one
// store and so one counter of writes, which no clock disturbs. What this process did not see happen has no exact place in that order, and then
// the times in the objects decide (receivers.ts). A standby watches too, so that a takeover loses nothing. ADR 31.

import { resourceVersionOf } from '@tintype/crds/client/kube-object'
import type { Reflector, ReflectorEvent } from '@tintype/crds/client/reflector'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { ConditionType, findCondition } from '@tintype/crds/schema/conditions'
import type { ScreenshotEventType } from '@tintype/crds/schema/event-types'

/** The revisions between which something was written, both included. */
interface Revisions {
  from: number
  to: number
}

interface Seen {
  queued: Revisions
  ended?: Revisions
}

/** What the order is read from. */
export interface EventOrderSources {
  screenshots: Pick<Reflector<Screenshot>, 'addListener'>
  webhooks: Pick<Reflector<Webhook>, 'addListener'>
}

/** Whether events of a Screenshot came after a webhook's start. */
export type FollowsStart = (webhook: Webhook, screenshot: Screenshot, event: ScreenshotEventType) => boolean | undefined

/** See the head of this file. One for each process; it lasts as long as the reflectors. */
export class EventOrder {
  readonly #screenshots = new Map<string, Seen>()
  /** By uid: since when each type of event is received, `*` for the webhook as a whole. */
  readonly #starts = new Map<string, Map<string, Revisions>>()

  constructor({ screenshots, webhooks }: EventOrderSources) {
    screenshots.addListener((event) => this.#noteScreenshot(event))
    webhooks.addListener((event) => this.#noteWebhook(event))
  }

  /** True when the event came after the webhook's start, false when before it, undefined when this process cannot tell. */
  readonly followsStart: FollowsStart = ({ metadata, spec }, screenshot, event) => {
    const start = this.#starts.get(metadata.uid)?.get(spec.isDefault ? ANY : event)
    const seen = this.#screenshots.get(screenshot.metadata.uid)
    const happened = event === 'screenshot.queued' ? seen?.queued : seen?.ended
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

/** The earlier state of the same object. */
const oldOf = <T extends Screenshot | Webhook>({ object, old }: ReflectorEvent<T>): T | undefined =>
  old?.metadata.uid === object.metadata.uid ? old : undefined

const exactly = (object: Screenshot | Webhook): Revisions => ({ from: resourceVersionOf(object), to: resourceVersionOf(object) })
const upTo = (object: Screenshot | Webhook): Revisions => ({ from: 0, to: resourceVersionOf(object) })

/** The watch brings each write by itself. A list, or the response to an own write, may stand for several. */
function toRevisions<T extends Screenshot | Webhook>(event: ReflectorEvent<T>): Revisions {
  const { object, source } = event
  if (source === 'watch') return exactly(object)
  const old = oldOf(event)
  const [from, to] = [old ? resourceVersionOf(old) + 1 : 0, resourceVersionOf(object)]
  return from > to ? upTo(object) : { from, to }
}

/** True when the API server's store went back to an earlier state: what was known of later revisions is void. */
const isOlder = (object: Screenshot | Webhook, known: Revisions): boolean => resourceVersionOf(object) < known.to

/** True for a Screenshot that nobody has written to since its creation, as far as it shows. */
const isUntouched = ({ metadata, status }: Screenshot): boolean =>
  Object.keys(status ?? {}).every((field) => field === 'phase') && (status?.phase ?? 'Pending') === 'Pending' && metadata.generation === 1

/** Reasons for which a webhook is not ready that are no pause of its own: events from meanwhile are sent afterwards. */
const PASSING = new Set(['Inactive', 'Disabled', 'SecretLeftover'])

/** True while events that happen are for this webhook, even if the operator has not made it ready yet. */
function receives(webhook: Webhook): boolean {
  const ready = findCondition(webhook.status?.conditions, ConditionType.ready)
  return isActive(webhook) && (ready?.status !== 'False' || PASSING.has(ready.reason))
}
