import { type CommandLine, type Flag, withCommon } from '../arguments/flag.ts'

// What completion offers. The scripts have all of it, so that a shell needs no process of Node.js for each key press.

/** The flags of a command as words. */
const flagWords = (flags: readonly Flag[]): string[] =>
  flags.flatMap(({ name, isNegatable }) => (isNegatable ? [`--${name}`, `--no-${name}`] : [`--${name}`]))

/** The first words of all commands, and the second words of each. */
function commandWords(commands: readonly CommandLine[]): Map<string, string[]> {
  const words = new Map<string, string[]>()
  for (const { name } of commands) {
    const [first = '', second] = name.split(' ')
    words.set(first, [...(words.get(first) ?? []), ...(second === undefined ? [] : [second])])
  }
  return words
}

/** Values by flag, for flags that have a list of values. */
function flagValues(flags: readonly Flag[]): Map<string, readonly string[]> {
  return new Map(flags.flatMap(({ name, values }) => (values === undefined ? [] : [[`--${name}`, values] as const])))
}

/** A flag in its long and its short form. */
const formsOf = ({ name, short }: Flag): string[] => (short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`])

/** Flags whose value is the name of a file. */
const fileFlags = (flags: readonly Flag[]): string[] => flags.filter(({ value }) => value === 'FILE').flatMap(formsOf)

/** Flags that take a value. */
const valueFlags = (flags: readonly Flag[]): string[] => flags.filter(({ kind }) => kind !== 'boolean').flatMap(formsOf)

/** A text in single quotes, for bash and zsh. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** What a command does, or the second words of a group of commands. */
const summaryOf = (commands: readonly CommandLine[], name: string): string =>
  commands.find((command) => command.name === name)?.summary ?? (commandWords(commands).get(name) ?? []).join(', ')

const pattern = (words: readonly string[]): string => words.join('|')

function commandCase({ name, flags = [] }: CommandLine, common: readonly Flag[]): string {
  const all = withCommon(flags, common)
  const values = [...flagValues(all)].map(
    ([flag, words]) => `        ${flag}) COMPREPLY=($(compgen -W ${quote(words.join(' '))} -- "$cur")); return ;;\n`,
  )
  const files = fileFlags(all)
  const others = valueFlags(all)
  return `    ${quote(name)})
      case "$prev" in
${values.join('')}${files.length === 0 ? '' : `        ${pattern(files)}) COMPREPLY=($(compgen -f -- "$cur")); return ;;\n`}        ${pattern(others)}) return ;;
      esac
      flags=${quote(flagWords(all).join(' '))} ;;
`
}

/** The completion script for bash. */
export function bashScript(commands: readonly CommandLine[], common: readonly Flag[]): string {
  const words = commandWords(commands)
  const groups = [...words].filter(([, seconds]) => seconds.length > 0)
  const nested = groups.map(([first, seconds]) => `    ${first}) words=${quote(seconds.join(' '))} ;;\n`)
  return `# Completion of tintype for bash. Add this line to ~/.bashrc:
#   source <(tintype completion bash)
_tintype() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="" flags="" words="" command="\${COMP_WORDS[1]:-}"
  COMPREPLY=()
  if ((COMP_CWORD > 1)); then prev="\${COMP_WORDS[COMP_CWORD-1]}"; fi
  # Bash splits --format=png at the equals sign.
  if [[ $cur == "=" ]]; then cur=""; elif [[ $prev == "=" ]]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W ${quote([...words.keys(), '--help', '--version'].join(' '))} -- "$cur"))
    return
  fi
  case "$command" in
${nested.join('')}  esac
  if [[ -n $words ]]; then
    if ((COMP_CWORD == 2)); then COMPREPLY=($(compgen -W "$words" -- "$cur")); return; fi
    command="$command \${COMP_WORDS[2]}"
  fi
  case "$command" in
${commands.map((command) => commandCase(command, common)).join('')}  esac
  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$cur")); fi
}
complete -o default -F _tintype tintype
`
}

/** Characters that `_arguments` reads as its own. */
const escapeSpec = (text: string): string => text.replaceAll(/[\\:[\]]/g, (character) => `\\${character}`)

function actionOf({ value, values }: Flag): string {
  if (values !== undefined) return `(${values.map((word) => word.replaceAll(/[^\w.-]/g, (character) => `\\${character}`)).join(' ')})`
  return value === 'FILE' ? '_files' : ' '
}

function specsOf(flag: Flag): string[] {
  const { name, short, kind, value = '', summary, isNegatable } = flag
  const text = escapeSpec(summary)
  const isRepeatable = kind === 'list' || kind === 'map' || kind === 'cookies'
  const star = isRepeatable ? '*' : ''
  if (kind !== 'boolean') {
    const spec = (word: string, separator: string): string =>
      quote(`${star}${word}${separator}[${text}]:${escapeSpec(value)}:${actionOf(flag)}`)
    return [spec(`--${name}`, '='), ...(short === undefined ? [] : [spec(`-${short}`, '+')])]
  }
  const words = [`--${name}`, ...(isNegatable ? [`--no-${name}`] : []), ...(short === undefined ? [] : [`-${short}`])]
  return words.map((word) => quote(`${word}[${text}]`))
}

function functionOf({ name, usage, flags = [] }: CommandLine, common: readonly Flag[]): string {
  const specs = withCommon(flags, common).flatMap(specsOf)
  const rest = usage === undefined ? [] : [quote(`*:${escapeSpec(usage)}:_default`)]
  return `    ${quote(name)})\n      _arguments -s -S \\\n        ${[...specs, ...rest].join(' \\\n        ')}\n      ;;\n`
}

/** The completion script for zsh. */
export function zshScript(commands: readonly CommandLine[], common: readonly Flag[]): string {
  const describe = (words: readonly (readonly [string, string])[]): string =>
    words.map(([word, summary]) => quote(`${word}:${escapeSpec(summary)}`)).join(' ')
  const words = commandWords(commands)
  const groups = [...words].filter(([, seconds]) => seconds.length > 0)
  const nested = groups.map(([first, seconds]) => {
    const described = seconds.map((second) => [second, summaryOf(commands, `${first} ${second}`)] as const)
    return `    ${first}) subcommands=(${describe(described)}) ;;\n`
  })
  return `#compdef tintype
# Completion of tintype for zsh. Add this line to ~/.zshrc, after compinit:
#   source <(tintype completion zsh)
_tintype() {
  local -a subcommands
  local command="\${words[2]:-}"
  if (( CURRENT == 2 )); then
    subcommands=(${describe([...words.keys()].map((first) => [first, summaryOf(commands, first)]))})
    _describe command subcommands
    return
  fi
  case "$command" in
${nested.join('')}  esac
  if (( \${#subcommands} )); then
    if (( CURRENT == 3 )); then
      _describe command subcommands
      return
    fi
    command="$command \${words[3]}"
    words[2]=()
    (( CURRENT-- ))
  fi
  words[1]=()
  (( CURRENT-- ))
  case "$command" in
${commands.map((command) => functionOf(command, common)).join('')}  esac
}
if [[ "\${funcstack[1]:-}" == _tintype ]]; then _tintype "$@"; else compdef _tintype tintype; fi
`
}

const fishQuote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** A line that offers words under a condition. */
const offer = (condition: string, more: string): string => `complete -c tintype -n ${fishQuote(condition)} ${more}\n`

function flagLines({ name, short, kind, value, values, summary, isNegatable }: Flag, condition: string): string {
  const letter = short === undefined ? '' : ` -s ${short}`
  // -x takes no file names, -r takes them.
  const argument = kind === 'boolean' ? '' : values ? ` -x -a ${fishQuote(values.join(' '))}` : value === 'FILE' ? ' -r -F' : ' -x'
  const line = offer(condition, `-l ${name}${letter}${argument} -d ${fishQuote(summary)}`)
  return isNegatable ? line + offer(condition, `-l no-${name} -d ${fishQuote(summary)}`) : line
}

/** The completion script for fish. */
export function fishScript(commands: readonly CommandLine[], common: readonly Flag[]): string {
  const words = commandWords(commands)
  const isFirst = '__tintype_words 1'
  const firsts = [...words.keys()].map((word) => offer(isFirst, `-f -a ${word} -d ${fishQuote(summaryOf(commands, word))}`))
  const seconds = [...words].flatMap(([first, each]) =>
    each.map((second) => offer(`__tintype_words 2 ${first}`, `-f -a ${second} -d ${fishQuote(summaryOf(commands, `${first} ${second}`))}`)),
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
