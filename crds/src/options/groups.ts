import { z } from 'zod'
import { captureGroups } from './catalog.ts'
import { cacheGroup } from './output/cache.ts'
import { deliveryGroup } from './output/delivery.ts'
import { privateGroup } from './private.ts'
import type { Option, OptionGroup } from './rules/declare.ts'

const [viewport, source, identity] = captureGroups
const picture = ['Format', 'Full pages', 'Part of the page'].flatMap((wanted) => captureGroups.filter(({ title }) => title === wanted))

/** Every group, in the order of docs/options.md. */
export const optionGroups: readonly OptionGroup[] = [
  ...new Set<OptionGroup>([viewport, ...picture, source, identity, privateGroup, ...captureGroups, deliveryGroup, cacheGroup]),
]

/** Every option by its name in camel case. */
export const optionsByName: ReadonlyMap<string, Option> = new Map(optionGroups.flatMap(({ options }) => Object.entries(options)))

/** An example value of an option, different from its default. Takes the name in camel case. Returns undefined if there is no example. */
export function exampleOf(name: string): unknown {
  const option = optionsByName.get(name)
  if (option === undefined || option.facts.example !== undefined) return option?.facts.example
  const { type, enum: values, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = toOptionSchema(option)
  const preset = option.facts.default
  const isOther = (value: unknown): boolean => value !== preset
  if (values) return values.find(isOther)
  if (type === 'boolean') return preset !== true
  if (type !== 'integer' && type !== 'number') return undefined
  const usual = typeof preset === 'number' ? preset : minimum
  return [usual * 2, (minimum + maximum) / 2, maximum].find(
    (value) => isOther(value) && value >= minimum && value <= maximum && value % 1 === 0,
  )
}

/** The part of an option's JSON Schema that docs/options.md and the tests read. */
export interface OptionSchema {
  type?: string
  description?: string
  enum?: readonly unknown[]
  minimum?: number
  maximum?: number
  maxLength?: number
  maxItems?: number
  maxProperties?: number
  pattern?: string
  items?: OptionSchema
}

/** Converts an option's zod schema to JSON Schema. */
export const toOptionSchema = (schema: z.ZodType): OptionSchema =>
  z.toJSONSchema(schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema, { io: 'input' }) as OptionSchema
