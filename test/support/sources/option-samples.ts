import type { z } from 'zod'
import { exampleOf, type OptionSchema, toOptionSchema } from '../../../crds/src/options/groups.ts'

/** Values of an option on both sides of its limits. The second one is valid. */
export function samplesOf(name: string, schema: z.ZodType): unknown[] {
  const option = toOptionSchema(schema)
  const example = exampleOf(name)
  return [beyond(option), example, ...moreOf(option, example), { unknown: 1 }]
}

/** An invalid value of the right type. */
function beyond({ type, enum: values, maximum, maxLength, maxItems, items }: OptionSchema): unknown {
  if (values) return 'unknown value'
  if (type === 'boolean') return 'true'
  if (maximum !== undefined) return maximum + 1
  if (maxLength !== undefined) return 'x'.repeat(maxLength + 1)
  if (maxItems !== undefined) return Array.from({ length: maxItems + 1 }, () => items?.enum?.[0] ?? 'x')
  return 1
}

function moreOf({ type, enum: values, minimum, maximum }: OptionSchema, example: unknown): unknown[] {
  if (values) return [...values.slice(0, 8), 1]
  if (minimum !== undefined && maximum !== undefined)
    return [minimum - 1, minimum, maximum, type === 'integer' ? minimum + 0.5 : String(example)]
  if (type === 'string') return ['', 1]
  if (type === 'array') return [[], 'x']
  return type === 'boolean' ? [true, false] : []
}
