// Decides the Ready condition of an Account. Pure.

import { type Account, accountDefinition } from '@tintype/crds/kinds/account'
import { type Condition, ConditionType, findCondition, isSameCondition, setCondition } from '@tintype/crds/schema/conditions'
import { findNameProblem } from '@tintype/crds/schema/custom-resource'
import { findPlan, mayExceed, type Plans } from '@tintype/crds/usage/plans'

/** Kubernetes limits the message of a condition to this many characters. */
const MAX_MESSAGE_LENGTH = 32_768

/** Returns the conditions to write; undefined when they are up to date. */
export function decide({ metadata, spec, status }: Account, plans: Plans, now: Date): Condition[] | undefined {
  const ready = { type: ConditionType.ready, ...readiness({ metadata, spec }, plans), observedGeneration: metadata.generation ?? 0 }
  const conditions = setCondition(status?.conditions ?? [], ready, now)
  return isSameCondition(findCondition(status?.conditions, ConditionType.ready), conditions.at(-1)) ? undefined : conditions
}

function readiness({ metadata, spec }: Pick<Account, 'metadata' | 'spec'>, plans: Plans): Pick<Condition, 'status' | 'reason' | 'message'> {
  const problem = findNameProblem(accountDefinition, metadata.name)
  if (problem !== undefined) {
    return { status: 'False', reason: 'InvalidName', message: `${problem}. No other object can name this Account. Create another one.` }
  }
  if (spec.suspended) return { status: 'False', reason: 'Suspended', message: 'spec.suspended is true. All requests are rejected.' }
  const plan = findPlan(plans, spec.plan)
  if (!plan) {
    const known = Object.keys(plans).join(', ')
    const message = `Plan ${spec.plan} is not defined. New screenshots are rejected. Set spec.plan to one of: ${known}; or add the plan to the chart’s value plans.`
    return { status: 'False', reason: 'PlanNotFound', message: message.slice(0, MAX_MESSAGE_LENGTH) }
  }
  const overage =
    spec.overage?.enabled && !mayExceed(spec, plan) ? ' spec.overage has no effect, because the plan has no overagePricePer1000.' : ''
  return { status: 'True', reason: 'Active', message: `Requests are accepted within the limits of plan ${spec.plan}.${overage}` }
}
