import { MAX_HOST_PATTERNS } from '../addresses/host-patterns.ts'
import { type CapturePolicySpec, MAX_POLICY_BYTES, policyBytesOf, type ScreenshotPolicy } from '../kinds/capture-policy.ts'
import type { SchedulePolicy, ScheduleTemplate, ScreenshotSchedule } from '../kinds/screenshot-schedule.ts'
import { findRefusedOptions, findRefusedUrl, type Limits, toCaptureLimits, toRecordOptions } from './refusals.ts'
import { intersectHosts } from './width.ts'

// A run of a schedule obeys two policies: the one that the schedule keeps, and the one that its key has when the run is created.

/** The part of a schedule that decides what its runs capture. */
export interface Scheduled {
  spec: { template: ScheduleTemplate; comparison?: object | null | undefined }
  /** What its cached form leaves out. */
  metadata?: Pick<ScreenshotSchedule['metadata'], 'leftOut'>
}

/** Why a schedule cannot create a run. */
export interface RunRefusal {
  reason: 'UrlNotAllowed' | 'OptionNotAllowed' | 'PolicyTooLarge'
  /** Without a period at the end. */
  message: string
}

/** The limits of both policies. Empty: the schedule has no key. */
const limitsOf = ({ keyId, ...kept }: SchedulePolicy, current: CapturePolicySpec | undefined): Limits[] => [
  { ...toCaptureLimits(keyId, kept), owner: `the capture policy of ${keyId} that the schedule keeps` },
  toCaptureLimits(keyId, current),
]

/** The options of a schedule’s runs by their names in camel case. A comparison counts as compareTo. */
function toRunOptions({ spec: { template, comparison }, metadata }: Scheduled): Record<string, unknown> {
  const { options, hiddenOptions = [], privateOptionsSecretRef } = template
  const hidden = [...hiddenOptions, ...Object.keys(metadata?.leftOut ?? {})].map((name) => [name, true] as const)
  return {
    ...Object.fromEntries(hidden),
    ...options,
    ...toRecordOptions(template),
    ...(comparison ? { compareTo: true } : {}),
    // Its options are not known here, so only a policy without allowedOptions lets it through.
    ...(privateOptionsSecretRef ? { privateOptionsSecretRef: true } : {}),
  }
}

/**
 * Finds out whether the policies of a schedule refuse its runs.
 * @param current the policy that its key has now; undefined: it has none, or was deleted
 */
export function findRunRefusal(schedule: Scheduled, current: CapturePolicySpec | undefined): RunRefusal | undefined {
  const { template } = schedule.spec
  if (!template.capturePolicy) return undefined
  const limits = limitsOf(template.capturePolicy, current)
  const url = limits.map((one) => findRefusedUrl(template.url, one)).find((message) => message !== undefined)
  if (url !== undefined) return { reason: 'UrlNotAllowed', message: url }
  const [option] = limits.flatMap((one) => findRefusedOptions(toRunOptions(schedule), one))
  if (option) return { reason: 'OptionNotAllowed', message: option.message }
  const { allowedHosts = [], allowedRequestHosts = [] } = toRunPolicy(template.capturePolicy, current) ?? {}
  const longest = Math.max(allowedHosts.length, allowedRequestHosts.length)
  if (longest <= MAX_HOST_PATTERNS && policyBytesOf({ allowedHosts, allowedRequestHosts }) <= MAX_POLICY_BYTES) return undefined
  const message = `the capture policy of ${template.capturePolicy.keyId} and the one that the schedule keeps have too many hosts together. Change the schedule with this key, so that it keeps the new policy`
  return { reason: 'PolicyTooLarge', message }
}

/** What a run keeps of both policies. Undefined: they limit no hosts. */
export function toRunPolicy(kept: SchedulePolicy | undefined, current: CapturePolicySpec | undefined): ScreenshotPolicy | undefined {
  const allowedHosts = intersectHosts(kept?.allowedHosts, current?.allowedHosts)
  const allowedRequestHosts = intersectHosts(kept?.allowedRequestHosts, current?.allowedRequestHosts)
  if (!kept || (!allowedHosts && !allowedRequestHosts)) return undefined
  return { keyId: kept.keyId, ...(allowedHosts ? { allowedHosts } : {}), ...(allowedRequestHosts ? { allowedRequestHosts } : {}) }
}
