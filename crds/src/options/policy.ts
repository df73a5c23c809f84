import { z } from 'zod'
import { parseJson } from '../text/parse-json.ts'
import { toSnakeCase } from '../text/snake-case.ts'
import type { AllOptions } from './contradictions.ts'

// What whoever runs the service may switch off. The gateway answers 403, and what comes by kubectl fails when it is claimed.

const isOn = z.boolean().default(true)

/** Which kinds of options are allowed. */
export const OptionPolicy = z.strictObject({
  proxy: isOn,
  ignoreHttpsErrors: isOn,
  bypassCsp: isOn,
  scripts: isOn,
  storage: z.boolean().default(false),
})
export type OptionPolicy = z.infer<typeof OptionPolicy>

export const DEFAULT_OPTION_POLICY: OptionPolicy = OptionPolicy.parse({})

/** The options that each switch is for. */
const SWITCHES: Readonly<Record<keyof OptionPolicy, readonly (keyof AllOptions & string)[]>> = {
  proxy: ['proxy', 'proxyBypass', 'proxyUsername', 'proxyPassword'],
  ignoreHttpsErrors: ['ignoreHttpsErrors'],
  bypassCsp: ['bypassCsp'],
  scripts: ['scripts', 'scriptUrls', 'initScript', 'waitForFunction'],
  storage: ['storageBucket', 'storageEndpoint', 'storageRegion', 'storagePath', 'storageAccessKeyId', 'storageSecretAccessKey'],
}

/** The policy as JSON in one variable of the environment; empty: the usual one. */
export const OptionPolicyText = z
  .string()
  .default('')
  .transform((text, context) => {
    const parsed = OptionPolicy.safeParse(text === '' ? {} : parseJson(text))
    if (parsed.success) return parsed.data
    context.addIssue({ code: 'custom', message: `must be switches as JSON: ${Object.keys(SWITCHES).join(', ')}, each true or false` })
    return z.NEVER
  })

/** Options that were chosen, other than by false, and that the policy does not allow; in camel case. */
export function findForbidden(options: AllOptions, policy: OptionPolicy): string[] {
  const off = (Object.keys(SWITCHES) as (keyof OptionPolicy)[]).filter((name) => !policy[name])
  return off.flatMap((name) => SWITCHES[name]).filter((option) => options[option] !== undefined && options[option] !== false)
}

/** What a client is told of them. */
export const toForbiddenMessage = (names: readonly string[]): string =>
  `not allowed here: ${names.map(toSnakeCase).join(', ')}; an administrator of this service has switched ${names.length === 1 ? 'it' : 'them'} off`
