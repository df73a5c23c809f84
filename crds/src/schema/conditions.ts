import { z } from 'zod'

/** A standard Kubernetes condition. `lastTransitionTime` changes only when `status` changes. */
export const Condition = z.object({
  type: z.string().max(64).describe('Type of the condition.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Status of the condition: True, False or Unknown.'),
  reason: z.string().max(128).describe('Machine-readable reason for the status in CamelCase.'),
  message: z.string().max(2048).describe('Human-readable explanation of the status.'),
  lastTransitionTime: z.string().max(40).meta({ format: 'date-time' }).describe('Time at which status last changed.'),
  observedGeneration: z.int().min(0).optional().describe('Generation of the spec that was observed.'),
})
export type Condition = z.infer<typeof Condition>

/** The conditions of an object, at most one per type. */
export const Conditions = z
  .array(Condition)
  .max(16)
  .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })

/** Condition types. `Finished` ends `kubectl wait` for a Screenshot after success and failure. `Succeeded` is Unknown until then. */
export const ConditionType = {
  succeeded: 'Succeeded',
  finished: 'Finished',
  /** False while the pool or account is missing: the Screenshot does not count as queued, and fails after a while. True once it can run again. */
  runnable: 'Runnable',
  /** The operator charged the Screenshot when it claimed it, because no reservation did. */
  charged: 'Charged',
  /** The unit of quota was refunded. */
  refunded: 'Refunded',
  ready: 'Ready',
  /** RunnerPool: it has the desired number of pods. */
  scaled: 'Scaled',
  /** Webhook: posts to it are not paused. */
  answering: 'Answering',
  /** Webhook: False while it still signs with a Secret that lacks the label of its account. Absent if that never was so. */
  secretLabeled: 'SecretLabeled',
  /** ScreenshotSchedule: no runs are created. */
  suspended: 'Suspended',
  /** ScreenshotSchedule: how its last run ended. */
  lastRunSucceeded: 'LastRunSucceeded',
  /** ScreenshotSchedule that compares its runs: the last completed one shows the page. */
  fit: 'Fit',
  sandboxed: 'Sandboxed',
  guarded: 'Guarded',
  /** RunnerPool that records videos: its runners can. */
  videoReady: 'VideoReady',
} as const

/** Reasons of a Screenshot's conditions. A failed capture's reason is its code in PascalCase ({@link toReason}). */
export const Reason = {
  capturing: 'Capturing',
  runnerLost: 'RunnerLost',
  runnerBusy: 'RunnerBusy',
  handedBack: 'HandedBack',
  attemptFailed: 'AttemptFailed',
  /** It waits for a runner after it could not run. */
  queued: 'Queued',
  captured: 'Captured',
  /** It completed with the picture of an earlier capture. */
  cached: 'Cached',
  /** It took the result of its archived record, because it was applied again. */
  restored: 'Restored',
} as const

/** `BLOCKED_ADDRESS` → `BlockedAddress`. */
export const toReason = (code: string): string =>
  code
    .toLowerCase()
    .split('_')
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
    .join('')

/** Returns the list with one condition set. Keeps its transition time if its status is unchanged. */
export function setCondition(conditions: readonly Condition[], next: Omit<Condition, 'lastTransitionTime'>, now: Date): Condition[] {
  const previous = conditions.find(({ type }) => type === next.type)
  const lastTransitionTime = previous?.status === next.status ? previous.lastTransitionTime : now.toISOString()
  return [...conditions.filter(({ type }) => type !== next.type), { ...next, lastTransitionTime }]
}

export const findCondition = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((condition) => condition.type === type)

/** True for a pending Screenshot that cannot run. It does not count as queued. */
export const isUnrunnable = ({ status }: { status?: { conditions?: readonly Condition[] | undefined } | undefined }): boolean =>
  findCondition(status?.conditions, ConditionType.runnable)?.status === 'False'

/** Compares conditions field by field, because the API server changes the order of fields. */
export const isSameCondition = (one: Condition | undefined, other: Condition | undefined): boolean =>
  (Object.keys(Condition.shape) as (keyof Condition)[]).every((field) => one?.[field] === other?.[field])
