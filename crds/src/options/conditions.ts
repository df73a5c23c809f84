import { type CaptureOptions, captureDefaults, type EffectiveOptions, isLarge, withDefaults } from './catalog.ts'
import { type CacheOptions, cacheOptionNames } from './output/cache.ts'
import { type PrivateOptions, privateOptionNames } from './private.ts'

// Conditions about the options of a request. Each gives the check in TypeScript and the check in CEL.

/** Every option of one request: capture options, private options and cache options. */
export type AllOptions = CaptureOptions & PrivateOptions & CacheOptions
/** Name of an option, in camel case. */
export type OptionName = keyof AllOptions & string

export interface Condition {
  /** The options that it reads. */
  options: readonly OptionName[]
  holds(options: AllOptions): boolean
  /** The condition in CEL. Undefined if the API server cannot see an option. */
  cel?: string | undefined
  /** Its opposite in CEL. */
  opposite?: string | undefined
}

/** False for options that an object does not show: private options, cache options, and options that may be in the bucket. */
const isShown = (name: string): boolean => !privateOptionNames.includes(name) && !cacheOptionNames.includes(name) && !isLarge(name)

const about = (option: OptionName, holds: Condition['holds'], cel: string, opposite: string): Condition => ({
  options: [option],
  holds,
  ...(isShown(option) && { cel, opposite }),
})

/** The option is set. */
export const set = (option: OptionName): Condition =>
  about(option, (options) => options[option] !== undefined, `has(self.${option})`, `!has(self.${option})`)

/** The option is true, or another value than false, 0 and an empty text. In CEL, it must be a boolean. */
export const on = (option: OptionName): Condition =>
  about(option, (options) => Boolean(options[option]), `has(self.${option}) && self.${option}`, `!has(self.${option}) || !self.${option}`)

const isOneOf = (value: unknown, values: readonly string[]): boolean => values.some((each) => each === value)
const listed = (values: readonly unknown[]): string => `[${values.map((value) => `"${value}"`).join(', ')}]`

/** The option is set to one of the values. */
export function is<Name extends OptionName>(option: Name, ...values: (AllOptions[Name] & string)[]): Condition {
  const cel = `has(self.${option}) && self.${option} ${values.length === 1 ? `== "${values[0]}"` : `in ${listed(values)}`}`
  const opposite = values.length === 1 ? `!has(self.${option}) || self.${option} != "${values[0]}"` : `!(${cel})`
  return about(option, (options) => isOneOf(options[option], values), cel, opposite)
}

/** The option is set to another value. */
export function other<Name extends OptionName>(option: Name, ...values: (AllOptions[Name] & string)[]): Condition {
  const opposite = `!has(self.${option}) || self.${option} ${values.length === 1 ? `== "${values[0]}"` : `in ${listed(values)}`}`
  return about(option, (options) => options[option] !== undefined && !isOneOf(options[option], values), `!(${opposite})`, opposite)
}

/** A formula of effective options. CEL does not know the devices, so the options of a device do not count. `opposite` is CEL. */
export const formula = (options: readonly OptionName[], opposite: string, holds: (options: EffectiveOptions) => boolean): Condition => ({
  options,
  holds: (chosen) => holds(withDefaults({ ...chosen, device: undefined })),
  opposite,
})

/** The number that is set or the default, in CEL. */
export const given = (name: keyof typeof captureDefaults): string => `(has(self.${name}) ? self.${name} : ${captureDefaults[name]})`

export const not = ({ options, holds, cel, opposite }: Condition): Condition => ({
  options,
  holds: (chosen) => !holds(chosen),
  cel: opposite,
  opposite: cel,
})

/** A text in CEL without what is in parentheses. */
function outermost(text: string): string {
  const rest = text.replaceAll(/\([^()]*\)/g, '')
  return rest === text ? text : outermost(rest)
}

function join(parts: readonly Condition[], side: 'cel' | 'opposite', operator: '&&' | '||'): string | undefined {
  const texts = parts.flatMap((part) => part[side] ?? [])
  if (texts.length < parts.length) return undefined
  const isMixed = (text: string): boolean => outermost(text).includes(operator === '&&' ? '||' : '&&')
  return texts.map((text) => (isMixed(text) ? `(${text})` : text)).join(` ${operator} `)
}

/** Each of the conditions holds. */
export const all = (...parts: readonly Condition[]): Condition => ({
  options: [...new Set(parts.flatMap(({ options }) => options))],
  holds: (options) => parts.every(({ holds }) => holds(options)),
  cel: join(parts, 'cel', '&&'),
  opposite: join(parts, 'opposite', '||'),
})

/** At least one of the conditions holds. */
export const any = (...parts: readonly Condition[]): Condition => not(all(...parts.map(not)))
