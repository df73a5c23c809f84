import { parseArgs } from 'node:util'
import { UsageError } from '../common/errors.ts'
import { suggestion } from '../common/nearest.ts'
import { COMMON_WORDS } from './common-words.ts'
import { type Flag, toOptionName } from './flag.ts'
import { type FlagValue, toFlagValue } from './values.ts'

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
