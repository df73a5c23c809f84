import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { suggestion, UsageError } from '../common/errors.ts'
import { type Flag, toOptionName } from './flag.ts'

export interface Parsed {
  /** Values by flag name. Absent flags have no entry. */
  values: ReadonlyMap<string, FlagValue>
  positionals: readonly string[]
}

/** What the command line gives for these flags, by the names of the API. */
export const givenBy = ({ values }: Parsed, flags: readonly Flag[]): Record<string, unknown> =>
  Object.fromEntries(flags.filter(({ name }) => values.has(name)).map(({ name }) => [toOptionName(name), values.get(name)]))

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number]
type OptionToken = Extract<Token, { kind: 'option' }>

const negationOf = (flag: Flag): string => `no-${flag.name}`

/** The configuration of `parseArgs`. It knows no numbers and no maps, so values stay texts here. */
function toConfiguration(flags: readonly Flag[]) {
  const entries = flags.flatMap((flag) => {
    const type = flag.kind === 'boolean' ? ('boolean' as const) : ('string' as const)
    const option = [flag.name, { type, ...(flag.short && { short: flag.short }) }] as const
    return flag.isNegatable ? [option, [negationOf(flag), { type: 'boolean' as const }] as const] : [option]
  })
  return Object.fromEntries(entries)
}

function readBoolean({ rawName, value }: OptionToken, isTrue: boolean): boolean {
  if (value === undefined || value === String(isTrue)) return isTrue
  if (value === String(!isTrue)) return !isTrue
  throw new UsageError(`${rawName} is a switch and takes no value, but has "${value}".`)
}

/** A value that looks like a flag is more often a forgotten value. Negative numbers are values. */
function readText({ rawName, value, inlineValue }: OptionToken): string {
  if (value === undefined) throw new UsageError(`${rawName} needs a value.`)
  const looksLikeFlag = !inlineValue && /^-[^\d.]/.test(value)
  if (looksLikeFlag) throw new UsageError(`${rawName} needs a value. For a value that begins with -, write ${rawName}=${value}.`)
  return value
}

/** ` Did you mean --delay or --wait-for-selector?`, or an empty text. */
function suggestFlag(word: string, flags: readonly Flag[], names: readonly string[]): string {
  const meant = Object.hasOwn(COMMON_WORDS, word) ? (COMMON_WORDS[word] ?? []) : []
  const found = flags.filter(({ name }) => meant.includes(name)).map(({ name, short }) => (short === undefined ? `--${name}` : `-${short}`))
  return found.length > 0 ? ` Did you mean ${found.join(' or ')}?` : suggestion(word, names, '--')
}

/**
 * Reads flags and positional arguments.
 * @param help the sentence for an unknown option that resembles none
 */
export function parseFlags(flags: readonly Flag[], args: readonly string[], help = 'Add --help to list the options.'): Parsed {
  const byName = new Map(flags.map((flag) => [flag.name, flag]))
  const negations = new Map(flags.filter(({ isNegatable }) => isNegatable).map((flag) => [negationOf(flag), flag]))
  const { tokens } = parseArgs({ args: [...args], options: toConfiguration(flags), allowPositionals: true, strict: false, tokens: true })
  const booleans = new Map<string, boolean>()
  const texts = new Map<string, string[]>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const negated = negations.get(token.name)
    const flag = byName.get(token.name)
    if (negated) booleans.set(negated.name, readBoolean(token, false))
    else if (flag === undefined) {
      const names = [...byName.keys(), ...negations.keys()]
      throw new UsageError(`unknown option ${token.rawName}.${suggestFlag(token.name, flags, names) || ` ${help}`}`)
    } else if (flag.kind === 'boolean') booleans.set(flag.name, readBoolean(token, true))
    else texts.set(flag.name, [...(texts.get(flag.name) ?? []), readText(token)])
  }
  const values = new Map<string, FlagValue>(booleans)
  for (const [name, given] of texts) values.set(name, toFlagValue(byName.get(name)!, given))
  return { values, positionals: tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : [])) }
}

export type FlagValue = boolean | number | string | readonly (string | object)[] | Readonly<Record<string, string>>

const isJsonObject = (text: string): boolean => text.trimStart().startsWith('{')

function parseJson(flag: Flag, text: string): object {
  try {
    return JSON.parse(text) as object
  } catch (error) {
    throw new UsageError(`--${flag.name} is not valid JSON: ${(error as Error).message}. Correct the JSON object.`)
  }
}

function toNumber({ name, kind }: Flag, text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(value) || (kind === 'integer' && !Number.isInteger(value))) {
    throw new UsageError(`--${name} must be a ${kind === 'integer' ? 'whole number' : 'number'}, but is "${text}".`)
  }
  return value
}

/** `Name: value` or `name=value`, whichever separator comes first, or a JSON object. */
function toEntries(flag: Flag, text: string): Record<string, string> {
  if (isJsonObject(text)) return parseJson(flag, text) as Record<string, string>
  const [, name = '', value = ''] = /^([^=:]*)[=:](.*)$/s.exec(text) ?? []
  if (name.trim() === '') throw new UsageError(`--${flag.name} needs NAME=VALUE or "NAME: VALUE", but is "${text}".`)
  return { [name.trim()]: value.trim() }
}

/** Pages can be longer than a command line allows, so `@FILE` reads them. */
const FROM_FILE = new Set(['html', 'markdown'])

function toText({ name }: Flag, text: string): string {
  if (!FROM_FILE.has(name) || !text.startsWith('@')) return text
  try {
    return readFileSync(text.slice(1), 'utf8')
  } catch (error) {
    throw new UsageError(`cannot read the file of --${name}: ${(error as Error).message}.`)
  }
}

/** The value of a flag, from all texts that the command line gives for it. Ranges are left to the service, which knows its own version best. */
function toFlagValue(flag: Flag, texts: readonly string[]): FlagValue {
  const last = texts.at(-1) ?? ''
  if (flag.kind === 'list') return texts
  if (flag.kind === 'cookies') return texts.map((text) => (isJsonObject(text) ? parseJson(flag, text) : text))
  if (flag.kind === 'map') return Object.assign({}, ...texts.map((text) => toEntries(flag, text))) as Record<string, string>
  if (flag.kind === 'integer' || flag.kind === 'number') return toNumber(flag, last)
  return toText(flag, last)
}

/** What people type for an option, by the names of the options that they may mean. */
export const COMMON_WORDS: Readonly<Record<string, readonly string[]>> = {
  dark: ['dark-mode'],
  width: ['viewport-width'],
  height: ['viewport-height'],
  viewport: ['viewport-width', 'viewport-height'],
  size: ['viewport-width', 'viewport-height'],
  'window-size': ['viewport-width', 'viewport-height'],
  wait: ['delay', 'wait-for-selector'],
  sleep: ['delay'],
  scale: ['device-scale-factor'],
  retina: ['device-scale-factor'],
  mobile: ['device'],
  element: ['selector'],
  full: ['full-page'],
  out: ['output'],
  file: ['output'],
  save: ['output'],
}

// Times on the command line: a duration such as 24h, or a time in ISO 8601.

const SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400, w: 604_800 }

/** `30m`, `12h`, `7d` or `2w` in seconds. Undefined for other texts. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d+)([mhdw])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * (SECONDS[unit] ?? 1)
}

/** A time in the past: a duration before now, or a time that the service reads. @throws UsageError */
export function toPastTime(flag: string, text: string, now: Date): string {
  const seconds = parseDuration(text)
  if (seconds !== undefined) return new Date(now.getTime() - seconds * 1_000).toISOString()
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(Date.parse(text))) return text
  throw new UsageError(`--${flag} "${text}" is no time. Use a duration such as 24h or 7d, or an ISO 8601 time.`)
}
