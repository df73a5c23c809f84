// Sends the order for a claimed Screenshot to its runner, and cancels captures there.

import { setTimeout as sleep } from 'node:timers/promises'
import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { toObjectName } from '@tintype/crds/identifiers/names'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { artifactsOf } from '@tintype/crds/options/artifacts'
import { withDefaults } from '@tintype/crds/options/catalog'
import { CONTENT_TYPES } from '@tintype/crds/options/output/formats'
import { findBaselineProblem, type StoredBaseline, toBaseline } from '@tintype/crds/records/approval'
import { accountOf } from '@tintype/crds/records/record'
import { baselinesPrefix, objectKey, objectKeyPrefix } from '@tintype/crds/records/storage-keys'
import { repeat } from '@tintype/crds/runtime/retry'
import { spanIds, type TraceContext, toTraceparent, traceOf } from '@tintype/crds/runtime/trace-context'
import { isBeingDeleted, isWhole, type Whole } from '@tintype/crds/schema/custom-resource'
import { findArchived } from '@tintype/crds/storage/archive'
import { inTurn, withWhole } from '../../kube/read-object.ts'
import type { DispatchOutcome, RunnerAddress, RunnerClient } from '../../runner/runner-client.ts'
import { addressOf, CLAIM_INDEX, type Runners } from '../../runner/runners.ts'
import type { Storage } from '../../storage/storage.ts'
import type { ScreenshotContext } from './context.ts'
import { OptionsError } from './decide.ts'
import { type OpenedOptions, openOptions } from './open-options.ts'
import { attemptsOf, deadlineOf, isWatched, uploadExpiryOf } from './status.ts'

/** How long, and how often, to retry an order while the runner still reports its last capture. */
const BUSY_RETRY_LIMIT_MILLISECONDS = 2_000
const BUSY_RETRY_MILLISECONDS = 25

/** Sends the order. Returns the runner's response, or the error of options that can never be used. */
export async function sendOrder(key: string, shot: Screenshot, context: ScreenshotContext): Promise<DispatchOutcome | OptionsError> {
  const { runners, dispatchTracker, captureWatcher, metrics, now } = context
  const claim = shot.status?.runner
  const pod = claim && runners.podOf(claim.uid)
  const identity = claim && runners.identityOf(claim.uid)
  if (!identity || !pod) return { outcome: 'unsent' }
  const address = addressOf(pod)
  const send = async (whole: Whole<Screenshot>) => {
    const parts = await collectParts(whole, context)
    if (parts instanceof OptionsError) return parts
    const post = () => context.client.post(address, identity.key, buildOrder(whole, context.storage, { ...parts, now: now() }))
    return postUntilFree(post, address, context)
  }
  const sendWhole = () => withWhole(shot, context.clients.screenshots, send)
  const sent = await (shot.spec.optionsObject !== undefined && isWhole(shot) ? inTurn(shot, sendWhole) : sendWhole())
  if (sent instanceof OptionsError) return sent
  const attempt = { attempt: attemptsOf(shot), podUid: claim.uid }
  const isAccepted = sent.outcome === 'accepted'
  dispatchTracker.note(key, {
    ...attempt,
    podVersion: pod.metadata.resourceVersion,
    response: isAccepted ? 'running' : 'silent',
    delivered: isAccepted || (dispatchTracker.find(key, attempt)?.delivered ?? false),
    at: now().getTime(),
  })
  if (isAccepted) {
    runners.noteTaken(claim.uid, accountOf(shot))
    captureWatcher.watch({ key, uid: shot.metadata.uid, address, ...attempt })
  }
  // Its Screenshot was deleted or failed while this runner was unreachable.
  if (sent.outcome === 'busy' && !isClaimed(sent.with.uid, address, context)) await context.client.cancel(address, sent.with.uid)
  metrics.dispatches.inc({ outcome: sent.outcome })
  return sent
}

/** Collects what the order contains besides the spec. Returns the error of options that can never be used. */
async function collectParts(shot: Whole<Screenshot>, context: ScreenshotContext): Promise<Omit<OrderParts, 'now'> | OptionsError> {
  const { maxFileBytes } = context.config
  try {
    const opened = await openOptions(shot, context)
    const { compareTo } = shot.spec.options ?? {}
    return { ...opened, maxFileBytes, ...(compareTo === undefined ? {} : { baseline: await findBaseline(shot, compareTo, context) }) }
  } catch (error) {
    if (error instanceof OptionsError) return error
    throw error
  }
}

/** What finding a picture needs. */
type BaselineContext = Pick<ScreenshotContext, 'now' | 'report'> & {
  config: Pick<ScreenshotContext['config'], 'namespace'>
  reflectors: Pick<ScreenshotContext['reflectors'], 'screenshots'>
  storage: Pick<ScreenshotContext['storage'], 'readText' | 'exists'>
}

/**
 * Finds the picture to compare with: that of the record `compareTo` in the same account, or, for the runs of a schedule, `spec.baseline`, which
 * only the operator may set.
 * @throws OptionsError BASELINE_NOT_FOUND; RetryableError if the store is unavailable
 */
export async function findBaseline(shot: Screenshot, compareTo: string, context: BaselineContext): Promise<StoredBaseline> {
  const { options, baseline } = shot.spec
  const account = accountOf(shot)
  if (baseline) {
    const keys = [baseline.key, ...(baseline.text ? [baseline.text.key] : [])]
    if (keys.every((key) => key.startsWith(baselinesPrefix(account)))) return baseline
    throw new OptionsError('spec.baseline names an object of another account', 'BASELINE_NOT_FOUND')
  }
  const found = findLive(account, compareTo, context) ?? (await findArchived(account, compareTo, context))
  const problem = found ? findBaselineProblem(found, options?.compareAcceptStatus) : { message: 'does not exist in this account' }
  if (!found || problem) throw new OptionsError(`compare_to: ${compareTo} ${problem?.message}`, 'BASELINE_NOT_FOUND')
  return toBaseline(found)
}

function findLive(account: string, id: string, { reflectors, config }: BaselineContext): Screenshot | undefined {
  const { lister } = reflectors.screenshots
  const isWanted = (shot: Screenshot): boolean =>
    accountOf(shot) === account && screenshotIdOf(shot.metadata) === id && !isBeingDeleted(shot)
  const named = lister.get(`${config.namespace}/${toObjectName(id)}`)
  return named && isWanted(named) ? named : lister.list().find(isWanted)
}

/** Retries while the runner is busy with a finished capture: its report can arrive here before its own call returns. */
function postUntilFree(post: () => Promise<DispatchOutcome>, address: RunnerAddress, context: ScreenshotContext): Promise<DispatchOutcome> {
  const until = performance.now() + BUSY_RETRY_LIMIT_MILLISECONDS
  const isFinal = (sent: DispatchOutcome): boolean =>
    sent.outcome !== 'busy' || isClaimed(sent.with.uid, address, context) || performance.now() > until
  return repeat(post, { delayOf: (sent) => (isFinal(sent) ? undefined : BUSY_RETRY_MILLISECONDS), wait: sleep })
}

/** Whether a Screenshot in the informer cache has a claim on that pod. */
const isClaimed = (uid: string, pod: RunnerAddress, { reflectors }: Pick<ScreenshotContext, 'reflectors'>): boolean =>
  reflectors.screenshots.lister.byIndex(CLAIM_INDEX, pod.uid).some(({ metadata }) => metadata.uid === uid)

interface CancelContext {
  client: Pick<RunnerClient, 'cancel'>
  runners: Pick<Runners, 'podOf'>
}

/** Cancels the capture of a Screenshot at the runner that has its claim. */
export async function cancelAtRunner({ status, metadata }: Screenshot, { client, runners }: CancelContext): Promise<void> {
  const pod = status?.runner && runners.podOf(status.runner.uid)
  if (pod) await client.cancel(addressOf(pod), metadata.uid)
}

/** Prefix of a Screenshot's files. It is not read from the status, because a runner could have changed that. */
export const filesOf = (shot: Screenshot): string => objectKeyPrefix(accountOf(shot), screenshotIdOf(shot.metadata))

/** Maximum size of a text whose words are compared. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024

/** Input of an order besides the Screenshot. */
interface OrderParts extends OpenedOptions {
  /** The picture to compare with. */
  baseline?: StoredBaseline | undefined
  maxFileBytes: number
  now: Date
}

/** Builds the order for the claimed attempt. */
export function buildOrder(
  shot: Screenshot,
  storage: Pick<Storage, 'presignGet' | 'presignPut'>,
  { maxFileBytes, now, options, privateOptions, baseline }: OrderParts,
): CaptureOrder {
  const { metadata, spec } = shot
  const accountName = accountOf(shot)
  const { format } = withDefaults(spec.options)
  const trace = toOrderTrace(shot)
  const expiresAt = uploadExpiryOf(shot)
  const uploadOf = (extension: string, contentType: string) => ({
    ...storage.presignPut({ key: objectKey(accountName, screenshotIdOf(metadata), extension), contentType, expiresAt, now }),
    maxBytes: maxFileBytes,
  })
  const artifacts = artifactsOf(spec.options).map(({ type, extension, contentType }) => ({
    type,
    upload: uploadOf(extension, contentType),
  }))
  const toOrderBaseline = ({ key, etag, ignored, finalUrl, forms, engine, text }: StoredBaseline) => ({
    ...storage.presignGet({ key, etag, expiresAt, now }),
    maxBytes: maxFileBytes,
    ...(ignored ? { ignored: [...ignored] } : {}),
    ...(finalUrl === undefined ? {} : { finalUrl }),
    ...(forms ? { forms: [...forms] } : {}),
    ...(engine ? { engine } : {}),
    ...(text ? { text: { ...storage.presignGet({ ...text, expiresAt, now }), maxBytes: MAX_TEXT_BYTES } } : {}),
  })
  return {
    uid: metadata.uid,
    name: metadata.name,
    namespace: metadata.namespace,
    accountName,
    ...(spec.batchId === undefined ? {} : { batchId: spec.batchId }),
    attempt: attemptsOf(shot),
    url: spec.url,
    ...(options ? { options } : {}),
    ...(privateOptions ? { privateOptions } : {}),
    upload: uploadOf(format, CONTENT_TYPES[format]),
    ...(artifacts.length > 0 ? { artifacts } : {}),
    ...(baseline ? { baseline: toOrderBaseline(baseline) } : {}),
    ...(isWatched(spec) ? { isWatched: true } : {}),
    ...(spec.capturePolicy ? { capturePolicy: spec.capturePolicy } : {}),
    ...(spec.scheduleRef?.moving ? { moving: spec.scheduleRef.moving } : {}),
    deadline: deadlineOf(shot).getTime(),
    ...(trace ? { traceparent: toTraceparent(trace) } : {}),
  }
}

/** Trace context of an order: the runner's spans are children of this attempt's span. */
export const toOrderTrace = (shot: Screenshot): TraceContext | undefined => {
  const trace = traceOf(shot)
  return trace && { ...trace, spanId: spanIds.capture(shot.metadata.uid, shot.status?.attempt ?? 0) }
}
