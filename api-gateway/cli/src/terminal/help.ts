import { type CommandLine, type Flag, type OptionGroup, withCommon } from '../arguments/flag.ts'

const FLAG_COLUMN = 26
const MAX_COLUMNS = 80

/** `-o, --output FILE`; `--[no-]full-page` for a switch of the API. */
function flagTitle({ name, short, value, isNegatable }: Flag): string {
  const prefix = short === undefined ? '' : `-${short}, `
  return `${prefix}--${isNegatable ? '[no-]' : ''}${name}${value === undefined ? '' : ` ${value}`}`
}

/** Breaks a text into lines. A word that is longer than a line is not broken. */
function wrap(text: string, length: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= length) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}

/** A title and a text beside it, on as many lines as they need. */
function helpLine(title: string, text: string, columns: number): string {
  const width = Math.min(columns, MAX_COLUMNS)
  if (title.length >= FLAG_COLUMN && title.length + text.length + 4 <= width) return `  ${title}  ${text}`
  const lines = wrap(text, width - FLAG_COLUMN - 3)
  const indent = ' '.repeat(FLAG_COLUMN + 3)
  const [first = '', ...rest] = title.length < FLAG_COLUMN ? lines : ['', ...lines]
  return [`  ${title.padEnd(FLAG_COLUMN)} ${first}`.trimEnd(), ...rest.map((line) => indent + line)].join('\n')
}

interface HelpOptions {
  common: readonly Flag[]
  columns: number
}

const flagLines = (flags: readonly Flag[], columns: number): string[] =>
  flags.map((flag) => helpLine(flagTitle(flag), flag.summary, columns))

const titleOf = ({ name, usage }: { name: string; usage: string | undefined }): string =>
  `tintype ${name}${usage === undefined ? '' : ` ${usage}`}`

/** Help of a command. `notes` come last. */
export function commandHelp(
  { name, usage, summary, flags = [] }: CommandLine,
  { common, notes = [], columns }: HelpOptions & { notes?: readonly string[] | undefined },
): string {
  return [
    `Usage: ${titleOf({ name, usage })} [options]`,
    '',
    `${summary}.`,
    '',
    ...flagLines(withCommon(flags, common), columns),
    ...(notes.length === 0 ? [] : ['', ...notes]),
    '',
  ].join('\n')
}

/** Help of a group of commands, such as `keys`. The flags that all of them have come once, at the end. */
export function groupHelp(commands: readonly CommandLine[], { common, columns }: HelpOptions): string {
  const each = commands.map(({ name, usage, summary, flags = [] }) => {
    return [titleOf({ name, usage }), `  ${summary}.`, ...flagLines(flags, columns), ''].join('\n')
  })
  return [...each, 'Options of every command:', ...flagLines(common, columns), ''].join('\n')
}

/** All capture options, in the groups of the API documentation. */
export function optionsHelp(
  groups: readonly OptionGroup[],
  toFlag: (option: OptionGroup['options'][number]) => Flag,
  columns: number,
): string {
  return groups.map(({ title, options }) => [title, ...flagLines(options.map(toFlag), columns), ''].join('\n')).join('\n')
}
