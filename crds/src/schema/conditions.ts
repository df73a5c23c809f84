import { z } from 'zod'

/** A condition as every Kubernetes API has it. `lastTransitionTime` moves only when `status` flips. */
export const Condition = z.object({
  type: z.string().max(64).describe('What the condition is about.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
  reason: z.string().max(128).describe('Why, in one CamelCase word that programs may switch on.'),
  message: z.string().max(2048).describe('Why, for a person.'),
  lastTransitionTime: z.string().max(40).meta({ format: 'date-time' }).describe('When status last changed.'),
  observedGeneration: z.int().min(0).optional().describe('The generation of the spec that was looked at.'),
})
export type Condition = z.infer<typeof Condition>

/** The conditions of an object: one a type. */
export const Conditions = z
  .array(Condition)
  .max(16)
  .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })

/** Condition types of a Screenshot. `Finished` ends `kubectl wait` either way; `Succeeded` is Unknown until then. */
export const ConditionType = {
  succeeded: 'Succeeded',
  finished: 'Finished',
  /** False while its pool or account is missing: it waits, does not count, and fails after a while. True once it can run again. */
  runnable: 'Runnable',
  /** Its unit of quota was taken when it was claimed: nobody did so before. */
  charged: 'Charged',
  /** Its unit of quota was given back. */
  refunded: 'Refunded',
  ready: 'Ready',
  /** Of a RunnerPool: it is as large as it should be. */
  scaled: 'Scaled',
  /** Of a Webhook: posts to it start when they are due. */
  answering: 'Answering',
  sandboxed: 'Sandboxed',
  guarded: 'Guarded',
} as const

/** Reasons of a Screenshot's conditions. A failed capture's reason is its code in PascalCase ({@link toReason}). */
export const Reason = {
  capturing: 'Capturing',
  runnerLost: 'RunnerLost',
  runnerBusy: 'RunnerBusy',
  handedBack: 'HandedBack',
  attemptFailed: 'AttemptFailed',
  /** It waits for a runner; said of one that could not run before. */
  queued: 'Queued',
  captured: 'Captured',
  /** Completed with the picture of an earlier capture. */
  cached: 'Cached',
} as const

/** `BLOCKED_ADDRESS` → `BlockedAddress`. */
export const toReason = (code: string): string =>
  code
    .toLowerCase()
    .split('_')
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
    .join('')

/** Returns the list with one condition set; its transition time is kept while its status stays the same. */
export function setCondition(conditions: readonly Condition[], next: Omit<Condition, 'lastTransitionTime'>, now: Date): Condition[] {
  const previous = conditions.find(({ type }) => type === next.type)
  const lastTransitionTime = previous?.status === next.status ? previous.lastTransitionTime : now.toISOString()
  return [...conditions.filter(({ type }) => type !== next.type), { ...next, lastTransitionTime }]
}

export const findCondition = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((condition) => condition.type === type)

/** True for a Screenshot that waits and cannot run: it does not count as queued. */
export const isUnrunnable = ({ status }: { status?: { conditions?: readonly Condition[] | undefined } | undefined }): boolean =>
  findCondition(status?.conditions, ConditionType.runnable)?.status === 'False'

/** True when both say the same, whatever the order of their fields: the API server has one of its own. */
export const isSameCondition = (one: Condition | undefined, other: Condition | undefined): boolean =>
  (Object.keys(Condition.shape) as (keyof Condition)[]).every((field) => one?.[field] === other?.[field])
