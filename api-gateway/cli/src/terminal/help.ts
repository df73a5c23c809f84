import type { CommandLine, Flag, OptionGroup } from '../arguments/flag.ts'
import { cut } from './output.ts'

const FLAG_COLUMN = 26

/** `-o, --output FILE`; `--[no-]full-page` for a switch of the API. */
export function flagTitle({ name, short, value, isNegatable }: Flag): string {
  const prefix = short === undefined ? '' : `-${short}, `
  return `${prefix}--${isNegatable ? '[no-]' : ''}${name}${value === undefined ? '' : ` ${value}`}`
}

/** A line with a title and a text, cut to the width of the terminal. */
export const helpLine = (title: string, text: string, columns: number, column = FLAG_COLUMN): string =>
  cut(`  ${title.padEnd(column)} ${text}`, columns)

/** Help of a command. `notes` come last. */
export function commandHelp(
  { name, usage, summary, flags }: CommandLine,
  { common, notes = [], columns }: { common: readonly Flag[]; notes?: readonly string[] | undefined; columns: number },
): string {
  return [
    `Usage: tintype ${[name, usage].filter((part) => part !== '').join(' ')} [options]`,
    '',
    `${summary}.`,
    '',
    ...[...flags, ...common].map((flag) => helpLine(flagTitle(flag), flag.summary, columns)),
    ...(notes.length === 0 ? [] : ['', ...notes]),
    '',
  ].join('\n')
}

/** All capture options, in the groups of the API documentation. */
export function optionsHelp(
  groups: readonly OptionGroup[],
  toFlag: (option: OptionGroup['options'][number]) => Flag,
  columns: number,
): string {
  const column = Math.max(...groups.flatMap(({ options }) => options.map((option) => flagTitle(toFlag(option)).length)))
  const sections = groups.map(({ title, options }) => {
    const lines = options.map((option) => helpLine(flagTitle(toFlag(option)), option.summary, columns, column))
    return `${title}\n${lines.join('\n')}\n`
  })
  return sections.join('\n')
}
