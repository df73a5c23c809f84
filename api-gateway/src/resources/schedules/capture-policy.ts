import { apiKeyIdOf } from '@tintype/crds/identifiers/ids'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import type { CapturePolicySpec } from '@tintype/crds/kinds/capture-policy'
import type { SchedulePolicy, ScreenshotSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { findRunRefusal, type RunRefusal, type Scheduled } from '@tintype/crds/policies/runs'
import { accountOf } from '@tintype/crds/records/record'
import { ApiError } from '../../common/errors.ts'
import type { KeyStore } from '../../store/ports.ts'
import { assertAsWide } from '../keys/capture-limits.ts'

// The capture policy that a schedule keeps. Without it, another key that changes or runs the schedule would widen what the schedule captures.

/** What a schedule keeps of the key that creates or changes it. */
export const toSchedulePolicy = ({ metadata, spec }: Pick<ApiKey, 'metadata' | 'spec'>): SchedulePolicy => ({
  keyId: apiKeyIdOf(metadata),
  ...spec.capturePolicy,
})

const isOwn = ({ spec }: Scheduled, { metadata }: ApiKey): boolean => spec.template.capturePolicy?.keyId === apiKeyIdOf(metadata)

function keptOf({ spec }: Scheduled): CapturePolicySpec {
  const { keyId: _, ...policy } = spec.template.capturePolicy ?? {}
  return policy
}

/**
 * A key cannot change, run or approve a schedule whose policy is wider than its own. The key of the schedule can: its runs obey its present policy.
 * @throws ApiError POLICY_TOO_NARROW
 */
export function assertCanUse(schedule: Scheduled, apiKey: ApiKey): void {
  if (!isOwn(schedule, apiKey))
    assertAsWide(apiKey, keptOf(schedule), 'the API key cannot change or run a schedule with a wider capture policy')
}

/**
 * The policy of a schedule after a change. That of its own key is renewed. Another key leaves the policy as it is, or removes it if that key has no
 * policy itself.
 * @returns undefined: none
 * @throws ApiError POLICY_TOO_NARROW
 */
export function policyAfterChange(schedule: Scheduled, apiKey: ApiKey, isRemoved: boolean): SchedulePolicy | undefined {
  assertCanUse(schedule, apiKey)
  if (isRemoved) {
    assertAsWide(apiKey, {}, 'only an API key without limits can remove the capture policy of a schedule')
    return undefined
  }
  return isOwn(schedule, apiKey) ? toSchedulePolicy(apiKey) : schedule.spec.template.capturePolicy
}

/** The capture policy that the key of a schedule has now. Undefined: it has none, or was deleted. @throws ApiError SERVICE_UNAVAILABLE */
export async function findKeyPolicy(
  schedule: Pick<ScreenshotSchedule, 'spec'>,
  keys: Pick<KeyStore, 'findById'>,
): Promise<CapturePolicySpec | undefined> {
  const { capturePolicy } = schedule.spec.template
  const key = capturePolicy && (await keys.findById(capturePolicy.keyId))
  return key && accountOf(key) === accountOf(schedule) ? key.spec.capturePolicy : undefined
}

const CODES = {
  UrlNotAllowed: 'URL_NOT_ALLOWED',
  OptionNotAllowed: 'OPTION_NOT_ALLOWED',
  PolicyTooLarge: 'CONFLICT',
} as const satisfies Record<RunRefusal['reason'], string>

/**
 * Refuses a schedule whose runs its policies refuse.
 * @param current the policy that its key has now
 * @throws ApiError URL_NOT_ALLOWED, OPTION_NOT_ALLOWED, CONFLICT
 */
export function assertRunWithin(schedule: Scheduled, current: CapturePolicySpec | undefined): void {
  const refusal = findRunRefusal(schedule, current)
  if (refusal) throw new ApiError(CODES[refusal.reason], refusal.message)
}
