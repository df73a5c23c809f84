import { readFileSync } from 'node:fs'
import { UsageError } from '../common/errors.ts'
import type { Flag } from './flag.ts'

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
export function toFlagValue(flag: Flag, texts: readonly string[]): FlagValue {
  const last = texts.at(-1) ?? ''
  if (flag.kind === 'list') return texts
  if (flag.kind === 'cookies') return texts.map((text) => (isJsonObject(text) ? parseJson(flag, text) : text))
  if (flag.kind === 'map') return Object.assign({}, ...texts.map((text) => toEntries(flag, text))) as Record<string, string>
  if (flag.kind === 'integer' || flag.kind === 'number') return toNumber(flag, last)
  return toText(flag, last)
}
