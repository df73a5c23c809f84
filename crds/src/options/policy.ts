import { z } from 'zod'
import { parseJson } from '../text/json.ts'
import { toSnakeCase } from '../text/words.ts'
import type { AllOptions } from './conditions.ts'
import { optionsByName } from './groups.ts'

// Options that a cluster administrator can disable. The gateway responds with 403. A Screenshot created with kubectl fails when it is claimed.

const isOn = z.boolean().default(true)

/** Whether each group of options is allowed. */
export const OptionPolicy = z.strictObject({
  proxy: isOn,
  ignoreHttpsErrors: isOn,
  bypassCsp: isOn,
  scripts: isOn,
  storage: z.boolean().default(false),
})
export type OptionPolicy = z.infer<typeof OptionPolicy>

export const DEFAULT_OPTION_POLICY: OptionPolicy = OptionPolicy.parse({})

/**
 * Options that run code in the page, which can read its cookies and send requests with its headers, and the one that lets others' code run. The
 * admission policy has the same list.
 */
export const CODE_OPTIONS: readonly string[] = [
  ...[...optionsByName].filter(([, { facts }]) => facts.policy === 'scripts').map(([name]) => name),
  ...['html', 'markdown', 'bypassCsp'],
]

/** The policy as JSON in one environment variable. Empty: the default policy. */
export const OptionPolicyText = z
  .string()
  .default('')
  .transform((text, context) => {
    const parsed = OptionPolicy.safeParse(text === '' ? {} : parseJson(text))
    if (parsed.success) return parsed.data
    context.addIssue({
      code: 'custom',
      message: `must be a JSON object of true or false values with the keys ${Object.keys(OptionPolicy.shape).join(', ')}`,
    })
    return z.NEVER
  })

/** Returns the options that are set and that the policy does not allow, in camel case. The value false is always allowed. */
export function findForbidden(options: AllOptions, policy: OptionPolicy): string[] {
  const isForbidden = ([name, value]: [string, unknown]): boolean => {
    const { policy: switched } = optionsByName.get(name)?.facts ?? {}
    return switched !== undefined && !policy[switched] && value !== undefined && value !== false
  }
  return Object.entries(options)
    .filter(isForbidden)
    .map(([name]) => name)
}

/** The error message for options that are not allowed. */
export const toForbiddenMessage = (names: readonly string[]): string =>
  `this service does not allow ${names.map(toSnakeCase).join(', ')}. Leave ${names.length === 1 ? 'it' : 'them'} out, or ask an administrator to allow ${names.length === 1 ? 'it' : 'them'}`
