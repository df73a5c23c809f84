// Decides the Ready condition of an Account. Pure.

import type { Account } from '@tintype/crds/kinds/account'
import { type Condition, ConditionType, findCondition, isSameCondition, setCondition } from '@tintype/crds/schema/conditions'

/** Returns the conditions to write; undefined when they are up to date. */
export function decide({ metadata, spec, status }: Account, now: Date): Condition[] | undefined {
  const finding: Pick<Condition, 'status' | 'reason' | 'message'> = spec.suspended
    ? { status: 'False', reason: 'Suspended', message: 'spec.suspended is true. All requests are rejected.' }
    : { status: 'True', reason: 'Active', message: `Requests are accepted within the limits of plan ${spec.plan}.` }
  const ready = { type: ConditionType.ready, ...finding, observedGeneration: metadata.generation ?? 0 }
  const conditions = setCondition(status?.conditions ?? [], ready, now)
  return isSameCondition(findCondition(status?.conditions, ConditionType.ready), conditions.at(-1)) ? undefined : conditions
}
