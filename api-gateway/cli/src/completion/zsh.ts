import { type CommandLine, type Flag, withCommon } from '../arguments/flag.ts'
import { commandWords, quote, summaryOf } from './words.ts'

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
