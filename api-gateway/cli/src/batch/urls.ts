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
