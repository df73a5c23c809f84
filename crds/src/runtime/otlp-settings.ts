import { z } from 'zod'
import { splitList } from '../text/comma-list.ts'

// OpenTelemetry's own environment variables, as both programs read them.

/** OTEL_EXPORTER_OTLP_ENDPOINT: base address of a collector; empty: no spans are made. */
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
