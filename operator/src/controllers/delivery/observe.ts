import { keyOf } from '@tintype/crds/client/kube-object'
import { Annotation } from '@tintype/crds/identifiers/names'
import { MAX_DELIVERIES, Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import { findDefaultWebhook, REQUEST_WEBHOOK } from '@tintype/crds/webhooks/deliveries'
import { readObject } from '../../kube/read-object.ts'
import { ACCOUNT_INDEX } from '../../kube/reflectors.ts'
import type { TermDeps } from '../../runtime/deps.ts'
import { type Candidate, hasEnded, type Progress } from './decide.ts'
import { endpointKeyOf } from './endpoint.ts'
import { isReceiver, isRequestReceiver, type Occurrence, toOccurrences } from './events/receivers.ts'
import type { CircuitBreakers } from './flow-control/circuit-breakers.ts'
import type { ProgressStore, ScreenshotProgress } from './progress.ts'

export interface ObserveDeps extends Pick<TermDeps, 'reflectors' | 'eventOrder'> {
  progressStore: ProgressStore
  circuitBreakers: Pick<CircuitBreakers, 'heldUntil'>
}

/** One Screenshot, the receivers of its events, and the posts in progress. */
export interface Observed {
  screenshot: Screenshot
  occurrences: Occurrence[]
  candidates: Candidate[]
  progress: ScreenshotProgress
  isDeleteRequested: boolean
  /** Its secret signs posts to the URL of the request, and its statistics count them. */
  defaultWebhook: Webhook | undefined
}

/** Collects the input of decide from the informer caches; undefined when the Screenshot was deleted. */
export function observe(key: string, { reflectors, eventOrder, progressStore, circuitBreakers }: ObserveDeps): Observed | undefined {
  const { screenshots, webhooks } = reflectors
  const cached = screenshots.lister.get(key)
  if (!cached || isBeingDeleted(cached)) return undefined
  const screenshot = readObject('Screenshot', Screenshot, cached)
  const occurrences = toOccurrences(screenshot, eventOrder.followsStart)
  const progress = progressStore.of(key, screenshot.metadata.uid)
  const hooks = [...webhooks.lister.byIndex(ACCOUNT_INDEX, accountOf(screenshot))]
  const isDeleteRequested = screenshot.metadata.annotations?.[Annotation.deleteRequested] !== undefined
  const candidates = occurrences
    .flatMap((occurrence) => toCandidates(screenshot, occurrence, hooks, progress))
    // Deliveries that were started before the deletion are finished; no new ones start.
    .filter(({ entry, progress: known }) => entry !== undefined || !isDeleteRequested || isPosted(known))
    .map((candidate) => ({ ...candidate, heldUntil: findHold(candidate, screenshot, occurrences, circuitBreakers) }))
  return { screenshot, occurrences, candidates, progress, isDeleteRequested, defaultWebhook: findDefaultWebhook(hooks) }
}

function toCandidates(screenshot: Screenshot, occurrence: Occurrence, hooks: Webhook[], progress: ScreenshotProgress): Candidate[] {
  const { event } = occurrence
  const states = screenshot.status?.deliveries?.[event] ?? {}
  const receivers = new Set(
    hooks.filter((hook) => isReceiver(hook, occurrence, states[hook.metadata.name])).map(({ metadata }) => metadata.name),
  )
  if (isRequestReceiver(screenshot, occurrence, findDefaultWebhook(hooks))) receivers.add(REQUEST_WEBHOOK)
  // The result of a post is recorded even if its webhook was deleted meanwhile. The API server would reject a patch with more than
  // MAX_DELIVERIES entries.
  const names = [...new Set([...Object.keys(states), ...progress.webhooksOf(event), ...receivers])].slice(0, MAX_DELIVERIES)
  return names.map((webhook) => {
    const entry = states[webhook]
    const isWanted = receivers.has(webhook)
    const known = progress.get(event, webhook)
    const isObsolete = isRecorded(known, entry) || (known?.state === 'deferred' && !isWanted)
    if (isObsolete) progress.delete(event, webhook)
    return { event, webhook, isReceiver: isWanted, entry, progress: isObsolete ? undefined : known }
  })
}

/** True for a post that was sent, whether or not it has ended. */
const isPosted = (progress: Progress | undefined): boolean => progress?.state === 'posting' || progress?.state === 'ended'

/** Time until which the circuit breaker delays a candidate that could start. */
function findHold(
  { event, webhook, entry, progress, isReceiver }: Candidate,
  screenshot: Screenshot,
  occurrences: readonly Occurrence[],
  circuitBreakers: ObserveDeps['circuitBreakers'],
): Date | undefined {
  const isIdle = progress === undefined || progress.state === 'deferred'
  if (!isIdle || !isReceiver || hasEnded(entry)) return undefined
  const dueAt = entry ? new Date(entry.at) : occurrences.find((occurrence) => occurrence.event === event)?.at
  return dueAt && circuitBreakers.heldUntil(endpointKeyOf(screenshot, webhook), dueAt, keyOf(screenshot))
}

/** True when status.deliveries already contains the result, or a later one. */
function isRecorded(progress: Progress | undefined, entry: Candidate['entry']): boolean {
  if (progress?.state !== 'ended' || entry === undefined) return false
  return hasEnded(entry) || entry.attempts > progress.attempt
}
