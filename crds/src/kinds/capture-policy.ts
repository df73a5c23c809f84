import { z } from 'zod'
import { HOST_PATTERN, MAX_HOST_PATTERN_LENGTH, MAX_HOST_PATTERNS } from '../addresses/host-patterns.ts'
import type { CelRule } from '../schema/custom-resource.ts'

// What an API key may capture, and what a Screenshot keeps of that. A link policy has the same fields without `allowedRequestHosts`.

export const MAX_POLICY_OPTIONS = 256
/** Maximum bytes of all patterns of a capture policy together, because each capture of the key carries them. */
export const MAX_POLICY_BYTES = 4_096

const PUNYCODE = 'international names in Punycode, such as xn--bcher-kva.example'

/** The schema of a list of hosts. @param what begins the description */
export const hostPatterns = (what: string) =>
  z
    .array(z.string().max(MAX_HOST_PATTERN_LENGTH).regex(HOST_PATTERN))
    .max(MAX_HOST_PATTERNS)
    .describe(`${what}, or *.suffix for all subdomains; ${PUNYCODE}. Absent: all; an empty list: none.`)

/** The schema of a list of names of options. */
export const optionNames = (what: string) =>
  z
    .array(
      z
        .string()
        .max(64)
        .regex(/^[a-z][A-Za-z0-9]*$/),
    )
    .max(MAX_POLICY_OPTIONS)
    .describe(what)

/** The lists of hosts of a capture policy. */
export interface HostLists {
  allowedHosts?: readonly string[] | undefined
  allowedRequestHosts?: readonly string[] | undefined
}

/** Bytes of all patterns together. Patterns are ASCII. */
export const policyBytesOf = ({ allowedHosts = [], allowedRequestHosts = [] }: HostLists): number =>
  [...allowedHosts, ...allowedRequestHosts].join('').length

const bytesInCel = (list: string): string => `(has(self.${list}) ? self.${list}.join('').size() : 0)`

/** The same limit for the API server. */
const sizeRule: CelRule = {
  rule: `${bytesInCel('allowedHosts')} + ${bytesInCel('allowedRequestHosts')} <= ${MAX_POLICY_BYTES}`,
  message: `the patterns of allowedHosts and allowedRequestHosts have more than ${MAX_POLICY_BYTES} characters together: use fewer, or *.suffix`,
}

const allowedHosts = hostPatterns('Hosts of the page and its frames').optional()
const allowedRequestHosts = hostPatterns('Hosts that the page may send requests to, for whatever purpose').optional()

export const CapturePolicySpec = z
  .object({
    allowedHosts,
    allowedRequestHosts,
    allowedOptions: optionNames(
      'Names of options that captures may have, such as viewportWidth. Absent: all; an empty list: none.',
    ).optional(),
    allowOwnContent: z
      .boolean()
      .describe(
        'Whether captures may show content of their own under the name of an allowed host: own markup, scripts, proxy and ignoreHttpsErrors. Absent: only if allowedHosts is absent.',
      )
      .optional(),
  })
  .meta({ 'x-kubernetes-validations': [sizeRule] })
export type CapturePolicySpec = z.infer<typeof CapturePolicySpec>

/** What a Screenshot keeps of the capture policy of the key that created it. */
export const ScreenshotPolicy = z.object({
  keyId: z.string().max(256).describe('Id of the API key.'),
  allowedHosts,
  allowedRequestHosts,
})
export type ScreenshotPolicy = z.infer<typeof ScreenshotPolicy>
