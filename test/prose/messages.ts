/** Finds the texts in source code that people read: error messages, log lines, descriptions. Vale itself reads only the comments of code. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { repository } from '../cluster/host/state.ts'
import { checkedFiles, checkedSources, checkedTests, checkProse, type ProseResult } from './check.ts'

export interface Message {
  text: string
  /** Counted from 1. */
  line: number
}

/** Three words are a message; fewer are a name, a value or a keyword. */
const MIN_WORDS = 3
const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm
const LITERAL = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\[\s\S])*)`/g
const TITLE = new RegExp(`(?<=\\bt\\.test\\(\\s*)(?:${LITERAL.source})`, 'g')
/** What no sentence contains: markup, scripts and style sheets that are run in a page. */
const CODE = /[<>{}=;\n]|=>|\\n/

/** The messages among the literals of a source. Each value in a template becomes `N`. */
export function findMessages(source: string): Message[] {
  const code = source.replace(COMMENT, (comment) => comment.replaceAll(/[^\n]/g, ' '))
  return [...code.matchAll(LITERAL)].flatMap(({ 1: single, 2: double, 3: template, index }) => {
    const text = (single ?? double ?? template?.replaceAll(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, 'N') ?? '').replaceAll(/\\(.)/g, '$1')
    const isMessage = !CODE.test(text) && text.split(/\s+/).filter((word) => /^[A-Za-z’'`-]{2,}[.,:;?!]?$/.test(word)).length >= MIN_WORDS
    return isMessage ? [{ text, line: code.slice(0, index).split('\n').length }] : []
  })
}

/** The titles of tests, without the number of a specified sentence. Other texts of tests are inputs and expected values. */
export const findTitles = (source: string): Message[] =>
  [...source.matchAll(TITLE)].flatMap(({ 0: literal, index }) =>
    findMessages(literal.replace(/spec [\d.]+: /, '')).map(({ text }) => ({ text, line: source.slice(0, index).split('\n').length })),
  )

/** Checks the messages of sources, or the titles of tests. Paths are relative to the repository, or absolute. */
export async function checkMessages(
  files: readonly string[],
  minimum: 'error' | 'suggestion' = 'error',
  find = findMessages,
): Promise<ProseResult> {
  const places: string[] = []
  const paragraphs: string[] = []
  for (const file of files) {
    for (const { text, line } of find(await readFile(path.resolve(repository, file), 'utf8'))) {
      places.push(`${file}:${line}`)
      paragraphs.push(text)
    }
  }
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-messages-'))
  try {
    const page = path.join(directory, 'messages.md')
    // A message is a paragraph of two lines, so that line 2n + 1 belongs to message n.
    await writeFile(page, `${paragraphs.join('\n\n')}\n`)
    const { isGood, output } = await checkProse([page], minimum)
    const toPlace = (found: string): string => {
      const [, line = '1', rest = ''] = /^.*?messages\.md:(\d+):\d+:(.*)$/.exec(found) ?? []
      return `${places[(Number(line) - 1) / 2] ?? page}:${rest}`
    }
    const lines = output.split('\n').filter((line) => line !== '')
    return { isGood, output: lines.map((line) => `${toPlace(line)}\n`).join('') }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Checks everything that `npm run verify` checks: documents, comments and messages of the programs, and titles of tests. */
export const checkRepository = async (minimum: 'error' | 'suggestion' = 'error'): Promise<ProseResult[]> => [
  await checkProse([...checkedFiles, ...checkedSources], minimum),
  await checkMessages(checkedSources, minimum),
  await checkMessages(checkedTests, minimum, findTitles),
]
