import { UsageError } from '../common/errors.ts'
import { API_VERSION, VERSION } from '../generated/options.ts'
import { accountCommands } from './account.ts'
import { bashScript, fishScript, zshScript } from './completion.ts'
import { configCommands } from './config.ts'
import { type Command, commonFlags } from './context.ts'
import { diff } from './diff.ts'
import { doctor } from './doctor.ts'
import { link } from './link.ts'
import { mcp } from './mcp.ts'
import { open } from './open.ts'
import { scheduleCommands } from './schedules.ts'
import { get, list, remove, watch } from './screenshots.ts'
import { shot } from './shot.ts'

const SCRIPTS: Readonly<Record<string, typeof bashScript>> = { bash: bashScript, zsh: zshScript, fish: fishScript }

const completion: Command = {
  name: 'completion',
  usage: 'SHELL',
  summary: 'Prints the completion script for bash, zsh or fish',
  isLocal: true,
  notes: [
    '  source <(tintype completion bash)    for ~/.bashrc',
    '  source <(tintype completion zsh)     for ~/.zshrc, after compinit',
    '  tintype completion fish | source     for ~/.config/fish/config.fish',
  ],
  run(context) {
    const shell = context.argument(0)
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined
    if (script === undefined) throw new UsageError(`there is no completion for "${shell}". Use bash, zsh or fish.`)
    context.world.stdout.write(script(commands, commonFlags))
  },
}

const version: Command = {
  name: 'version',
  summary: 'Prints the version of the program',
  isLocal: true,
  run(context) {
    context.show({ version: VERSION, api_version: API_VERSION }, `tintype ${VERSION} (API ${API_VERSION})`)
  },
}

/** Every command, in the order of help. */
export const commands: readonly Command[] = [
  shot,
  list,
  get,
  remove,
  watch,
  diff,
  link,
  ...scheduleCommands,
  ...accountCommands,
  doctor,
  open,
  mcp,
  ...configCommands,
  completion,
  version,
]
