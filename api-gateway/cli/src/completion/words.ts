import type { CommandLine, Flag } from '../arguments/flag.ts'

// What completion offers. Both scripts are made from this, so that a shell needs no process of Node.js for each key press.

/** The flags of a command as words. */
export const flagWords = (flags: readonly Flag[]): string[] =>
  flags.flatMap(({ name, isNegatable }) => (isNegatable ? [`--${name}`, `--no-${name}`] : [`--${name}`]))

/** The first words of all commands, and the second words of each. */
export function commandWords(commands: readonly CommandLine[]): Map<string, string[]> {
  const words = new Map<string, string[]>()
  for (const { name } of commands) {
    const [first = '', second] = name.split(' ')
    words.set(first, [...(words.get(first) ?? []), ...(second === undefined ? [] : [second])])
  }
  return words
}

/** Values by flag, for flags that have a list of values. */
export function flagValues(flags: readonly Flag[]): Map<string, readonly string[]> {
  return new Map(flags.flatMap(({ name, values }) => (values === undefined ? [] : [[`--${name}`, values] as const])))
}

/** A flag in its long and its short form. */
const formsOf = ({ name, short }: Flag): string[] => (short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`])

/** Flags whose value is the name of a file. */
export const fileFlags = (flags: readonly Flag[]): string[] => flags.filter(({ value }) => value === 'FILE').flatMap(formsOf)

/** Flags that take a value. */
export const valueFlags = (flags: readonly Flag[]): string[] => flags.filter(({ kind }) => kind !== 'boolean').flatMap(formsOf)

/** A text in single quotes, for bash and zsh. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** What a command does, or the second words of a group of commands. */
export const summaryOf = (commands: readonly CommandLine[], name: string): string =>
  commands.find((command) => command.name === name)?.summary ?? (commandWords(commands).get(name) ?? []).join(', ')
