import { z } from 'zod'
import { splitList } from '../text/comma-list.ts'

// Standard environment variables of OpenTelemetry, for both programs.

/** OTEL_EXPORTER_OTLP_ENDPOINT: base URL of a collector. Empty: tracing is disabled. */
export const OtlpEndpoint = z
  .union([z.literal(''), z.url({ protocol: /^https?$/ })])
  .default('')
  .transform((text) => (text === '' ? undefined : text))

/** OTEL_EXPORTER_OTLP_HEADERS: `name=value,name=value`, values percent-encoded. */
export const OtlpHeaders = z
  .string()
  .default('')
  .refine(
    (text) => pairsOf(text).every(([name, value]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && value !== undefined),
    'must be name=value,name=value',
  )
  .transform((text) => Object.fromEntries(pairsOf(text).map(([name, value = '']) => [name.toLowerCase(), value])))

const pairsOf = (text: string): [name: string, value: string | undefined][] =>
  splitList(text).map((pair) => {
    const [name = '', ...rest] = pair.split('=')
    return [name.trim(), rest.length === 0 ? undefined : decode(rest.join('=').trim())]
  })

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
