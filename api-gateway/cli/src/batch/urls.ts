import { readFileSync } from 'node:fs'
import { UsageError } from '../common/errors.ts'

/** `example.com` → `https://example.com`. Everything else is left to the service, which explains what is wrong. */
export const toUrl = (text: string): string => (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`)

/** The entries of a list: one on each line. Empty lines and lines that begin with # are comments. */
const parseLines = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))

/** The URLs of a list. */
export const parseUrls = (text: string): string[] => parseLines(text).map(toUrl)

async function readAll(stdin: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stdin) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** Reads a list from standard input. */
export const readLines = async (stdin: AsyncIterable<Uint8Array>): Promise<string[]> => parseLines(await readAll(stdin))

/** Reads a list from a file, or from standard input if its name is `-`. */
export async function readUrls(source: string, stdin: AsyncIterable<Uint8Array>): Promise<string[]> {
  if (source === '-') return parseUrls(await readAll(stdin))
  try {
    return parseUrls(readFileSync(source, 'utf8'))
  } catch (error) {
    throw new UsageError(`cannot read the list of URLs: ${(error as Error).message}. Name a file, or - for standard input.`)
  }
}

/** Name of a file without --name: `example.com-docs-intro.png`. */
export const DEFAULT_TEMPLATE = '{host}{path}.{format}'

/** File systems allow 255 bytes. This leaves room for a number and a temporary suffix. */
const MAX_LENGTH = 180

export interface NameFields {
  url: string
  /** Position in the list, from 1. */
  number: number
  /** Length of the list. Numbers are padded to its digits, so that files sort in the order of the list. */
  total: number
  format: string
}

const slug = (text: string): string =>
  text
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}._]+/gu, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const FIELDS: Readonly<Record<string, (fields: NameFields, url: URL | undefined) => string>> = {
  host: (_, url) => slug(url?.host ?? 'page'),
  path: (_, url) => {
    const text = url === undefined ? '' : slug(decode(url.pathname + url.search))
    return text === '' ? '' : `-${text}`
  },
  n: ({ number, total }) => String(number).padStart(String(total).length, '0'),
  format: ({ format }) => (format === 'jpeg' ? 'jpg' : format),
}

/** Fails if a template is not the name of a file. */
export function checkTemplate(template: string): void {
  const fields = Object.keys(FIELDS).map((name) => `{${name}}`)
  const [unknown] = [...template.matchAll(/\{[^}]*\}/g)].map(([text]) => text).filter((text) => !fields.includes(text))
  if (unknown !== undefined) throw new UsageError(`--name contains ${unknown}. Use ${fields.join(', ')}.`)
  if (/[/\\]/.test(template)) throw new UsageError('--name is a file name and must not contain / or \\. Set the folder with -o.')
}

/** Cuts a name, and keeps its extension. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= MAX_LENGTH) return name
  const [, stem = '', extension = ''] = /^(.*?)(\.[^.]{1,5})?$/s.exec(name) ?? []
  let short = stem
  while (Buffer.byteLength(short + extension) > MAX_LENGTH) short = [...short].slice(0, -1).join('')
  return short + extension
}

/** Fills in a template. */
export function toFileName(template: string, fields: NameFields): string {
  const url = URL.canParse(fields.url) ? new URL(fields.url) : undefined
  const name = shorten(template.replaceAll(/\{([a-z]+)\}/g, (whole, field: string) => FIELDS[field]?.(fields, url) ?? whole))
  return /^\.*$/.test(name) ? `page${name}` : name
}

/** Adds a number to a name that is in use: `a.png` → `a-2.png`. Ignores case, because some file systems do. */
export function toFreeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name.toLowerCase())) return name
  const [, stem = '', extension = ''] = /^(.*?)(\.[^.]*)?$/s.exec(name) ?? []
  for (let number = 2; ; number += 1) {
    const candidate = `${stem}-${number}${extension}`
    if (!taken.has(candidate.toLowerCase())) return candidate
  }
}
