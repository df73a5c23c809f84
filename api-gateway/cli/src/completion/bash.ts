import { type CommandLine, type Flag, withCommon } from '../arguments/flag.ts'
import { commandWords, fileFlags, flagValues, flagWords, quote, valueFlags } from './words.ts'

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
