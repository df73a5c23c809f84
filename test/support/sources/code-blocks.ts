import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

const root = path.join(import.meta.dirname, '../../..')

/** Every page with commands for readers: README.md, docs/ and the chart's README. Leaves out ADRs and benchmarks. */
export const manualPages: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...globSync('docs/{,examples/}*.md', { cwd: root }),
  'charts/tintype/README.md',
  'test/cluster/README.md',
]

/** The text of a file of the repository. */
export const readText = (file: string): string => readFileSync(path.join(root, file), 'utf8')

/** The shell commands of a Markdown text, one per line. A backslash or an open quote at the end of a line continues the command. */
export function commandsOf(markdown: string): string[] {
  const blocks = [...markdown.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, block = '']) => block)
  return blocks.flatMap((block) => {
    const commands: string[] = []
    let open = ''
    for (const line of block.replaceAll(/\\\n\s*/g, '').split('\n')) {
      open = open === '' ? line : `${open}\n${line}`
      if (isQuoteOpen(open)) continue
      if (open.trim() !== '') commands.push(open.trim())
      open = ''
    }
    return commands
  })
}

/** The YAML blocks of a Markdown text. */
export const yamlBlocksOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^```ya?ml\n(.*?)^```$/gms)].map(([, block = '']) => block)

const isQuoteOpen = (text: string): boolean => {
  let quote = ''
  for (const [index, letter] of [...text].entries()) {
    if (quote === '' && letter === '#' && /^\s?$/.test(text[index - 1] ?? '')) return false
    if (letter === quote) quote = ''
    else if (quote === '' && (letter === "'" || letter === '"')) quote = letter
  }
  return quote !== ''
}

/** A command without its comment. */
export const withoutComment = (command: string): string => command.replace(/\s+#\s.*$/s, '')

/** The commands of a text for the terminal, such as the chart's notes. They are its indented lines. */
export const indentedCommandsOf = (text: string): string[] =>
  [...text.replaceAll(/\\\n\s*/g, '').matchAll(/^ {3}(?=\S)(.*)$/gm)]
    .map(([, line = '']) => line)
    .filter((line) => /^(export |curl|kubectl|helm)/.test(line))

/** Inline commands of a text: `kubectl …`, `helm …`, `curl …`. */
export const inlineCommandsOf = (markdown: string): string[] =>
  [...markdown.replaceAll(/^ *```.*?^ *```$/gms, '').matchAll(/`((?:kubectl|helm|curl) [^`]+)`/g)].map(([, command = '']) => command)
