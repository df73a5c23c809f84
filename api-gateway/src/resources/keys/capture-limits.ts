import { apiKeyIdOf } from '@tintype/crds/identifiers/ids'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import type { CapturePolicySpec, ScreenshotPolicy } from '@tintype/crds/kinds/capture-policy'
import { findRefusedOptions, findRefusedUrl, type Limits, toCaptureLimits, toRecordOptions } from '@tintype/crds/policies/refusals'
import { toRunPolicy } from '@tintype/crds/policies/runs'
import { findNarrowerField } from '@tintype/crds/policies/width'
import { toSnakeCase } from '@tintype/crds/text/words'
import { ApiError, type Problem } from '../../common/errors.ts'
import type { RequestedOptions } from '../../creation/build.ts'

// What the capture policy of a key lets a request do.

type Policied = Pick<ApiKey, 'metadata' | 'spec'>

/**
 * Refuses a key whose capture policy is narrower than another policy. Undefined limits nothing.
 * @throws ApiError POLICY_TOO_NARROW that names the first narrower field
 */
export function assertAsWide({ metadata, spec }: Policied, other: CapturePolicySpec | undefined, problem: string): void {
  const field = findNarrowerField(spec.capturePolicy, other)
  if (field === undefined) return
  throw new ApiError('POLICY_TOO_NARROW', `${problem}: ${toSnakeCase(field)} of capture_policy of ${apiKeyIdOf(metadata)} is narrower`)
}

/** The limits of a key's captures. Empty: none. */
export const captureLimitsOf = ({ metadata, spec }: Policied): Limits[] =>
  spec.capturePolicy ? [toCaptureLimits(apiKeyIdOf(metadata), spec.capturePolicy)] : []

/** What the Screenshots of a key keep of its capture policy. Undefined: it limits no hosts. */
export const keptPolicyOf = ({ metadata, spec }: Policied): ScreenshotPolicy | undefined =>
  toRunPolicy({ keyId: apiKeyIdOf(metadata), ...spec.capturePolicy }, undefined)

const toMessage = (problems: readonly Problem[]): string => problems.map(({ message }) => message).join('; ')

/**
 * Refuses options by their names in camel case.
 * @param place path of the options in the request, such as `options.`
 * @throws ApiError OPTION_NOT_ALLOWED that lists what is refused
 */
export function assertOptionsWithin(options: Readonly<Record<string, unknown>>, limits: readonly Limits[], place = ''): void {
  const refused = limits.flatMap((one) => findRefusedOptions(options, one))
  const problems = refused.map(({ name, message }): Problem => ({ path: `${place}${name}`, code: 'not_allowed', message }))
  if (problems.length > 0) throw new ApiError('OPTION_NOT_ALLOWED', toMessage(problems), { details: problems })
}

/** A URL of a request, and its path there. */
interface RequestedUrl {
  url: string
  path?: string
}

/**
 * Refuses URLs by their hosts.
 * @param what names the URL in messages: `url`, `final url`
 * @throws ApiError URL_NOT_ALLOWED that lists what is refused
 */
export function assertUrlsWithin(urls: readonly RequestedUrl[], limits: readonly Limits[], what = 'url'): void {
  const problems = urls.flatMap(({ url, path = 'url' }) =>
    limits.flatMap((one): Problem[] => {
      const message = findRefusedUrl(url, one, what)
      return message === undefined ? [] : [{ path, code: 'url_not_allowed', message }]
    }),
  )
  if (problems.length === 0) return
  const message = problems.length === 1 ? toMessage(problems) : `${problems.length} urls are not allowed`
  throw new ApiError('URL_NOT_ALLOWED', message, { details: problems })
}

/** A request for captures. */
interface CaptureRequest extends RequestedOptions {
  /** Each with the options that its URL contains. */
  targets: readonly (RequestedUrl & Pick<RequestedOptions, 'privateOptions'>)[]
}

/** Refuses what the capture policy of a key does not allow. @throws ApiError OPTION_NOT_ALLOWED, URL_NOT_ALLOWED */
export function assertCaptureWithin({ targets, options, privateOptions, cache, record }: CaptureRequest, limits: readonly Limits[]): void {
  const ofUrls = Object.assign({}, ...targets.map((target) => target.privateOptions))
  const named = { ...options, ...privateOptions, ...ofUrls, ...cache, ...toRecordOptions(record ?? {}) }
  assertOptionsWithin(named, limits, 'options.')
  assertUrlsWithin(targets, limits)
}

/**
 * The body that identifies a request with an Idempotency-Key. With the lists of hosts, a key gets no response of another key that is limited to
 * other hosts.
 */
export function toIdentifiedBody(body: unknown, policy: ScreenshotPolicy | undefined): unknown {
  if (!policy) return body
  const { keyId: _, ...hosts } = policy
  return { body, hosts }
}
