// Whether an Account's keys are let in, as a condition for people. Pure.

import type { Account } from '@tintype/crds/kinds/account'
import { type Condition, ConditionType, findCondition, isSameCondition, setCondition } from '@tintype/crds/schema/conditions'

/** The conditions to write; undefined when they say so already. */
export function decide({ metadata, spec, status }: Account, now: Date): Condition[] | undefined {
  const finding: Pick<Condition, 'status' | 'reason' | 'message'> = spec.suspended
    ? { status: 'False', reason: 'Suspended', message: 'spec.suspended is true: every request is refused.' }
    : { status: 'True', reason: 'Active', message: `Requests are let in, within the plan ${spec.plan}.` }
  const ready = { type: ConditionType.ready, ...finding, observedGeneration: metadata.generation ?? 0 }
  const conditions = setCondition(status?.conditions ?? [], ready, now)
  return isSameCondition(findCondition(status?.conditions, ConditionType.ready), conditions.at(-1)) ? undefined : conditions
}
