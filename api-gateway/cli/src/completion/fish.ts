import type { CommandLine, Flag } from '../arguments/flag.ts'
import { commandWords, summaryOf } from './words.ts'

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** A line that offers words under a condition. */
const offer = (condition: string, more: string): string => `complete -c tintype -n ${quote(condition)} ${more}\n`

function flagLines({ name, short, kind, value, values, summary, isNegatable }: Flag, condition: string): string {
  const letter = short === undefined ? '' : ` -s ${short}`
  // -x takes no file names, -r takes them.
  const argument = kind === 'boolean' ? '' : values ? ` -x -a ${quote(values.join(' '))}` : value === 'FILE' ? ' -r -F' : ' -x'
  const line = offer(condition, `-l ${name}${letter}${argument} -d ${quote(summary)}`)
  return isNegatable ? line + offer(condition, `-l no-${name} -d ${quote(summary)}`) : line
}

/** The completion script for fish. */
export function fishScript(commands: readonly CommandLine[], common: readonly Flag[]): string {
  const words = commandWords(commands)
  const isFirst = '__tintype_words 1'
  const firsts = [...words.keys()].map((word) => offer(isFirst, `-f -a ${word} -d ${quote(summaryOf(commands, word))}`))
  const seconds = [...words].flatMap(([first, each]) =>
    each.map((second) => offer(`__tintype_words 2 ${first}`, `-f -a ${second} -d ${quote(summaryOf(commands, `${first} ${second}`))}`)),
  )
  const flags = commands.flatMap(({ name, flags = [] }) => flags.map((flag) => flagLines(flag, `__tintype_begins ${name}`)))
  const shared = common.map((flag) => {
    const owners = commands.filter(({ flags = [] }) => flags.some(({ name }) => name === flag.name))
    return flagLines(
      flag,
      ['words 1', ...owners.map(({ name }) => `begins ${name}`)].map((known) => `not __tintype_${known}`).join('; and '),
    )
  })
  return `# Completion of tintype for fish. Add this line to ~/.config/fish/config.fish:
#   tintype completion fish | source
# True if the word that is typed has this number, after the given words.
function __tintype_words
  set -l given (commandline -opc)
  test (count $given) = $argv[1]; and test "$given[2..-1]" = "$argv[2..-1]"
end
# True if the command begins with these words.
function __tintype_begins
  set -l given (commandline -opc)
  set -l last (math 1 + (count $argv))
  test (count $given) -ge $last; and test "$given[2..$last]" = "$argv"
end
complete -c tintype -e
${[...firsts, ...seconds, ...shared, ...flags].join('')}`
}
