import { type CaptureOption, type OptionGroup, toFlagName } from './arguments/flag.ts'
import { parseFlags } from './arguments/parse.ts'
import { commands } from './commands/all.ts'
import { captureFlags, toFlag } from './commands/capture-flags.ts'
import { type Command, Context, commonFlags, type World } from './commands/context.ts'
import { EXIT, type ExitCode, suggestion, toReport, UsageError } from './common/errors.ts'
import { optionGroups } from './generated/options.ts'
import { type Forward, openForward } from './settings/kubectl.ts'
import { commandHelp, groupHelp, optionsHelp } from './terminal/help.ts'
import { type Output, toPrintable } from './terminal/output.ts'

/** Fits a terminal of 24 lines and 80 columns. Commands that are named nowhere else replace what follows FURTHER in its line. */
const OVERVIEW = `Usage: tintype COMMAND [options]

  shot URL...            Captures pages: tintype shot example.com -o page.png
  list, get, delete      Screenshots of the account
  watch [ID]             Follows a screenshot, or all pending ones, to the end
  diff A [B]             Compares two pages, or a page with a screenshot
  link URL               Prints a signed link to a picture, for <img>
  schedules              Captures again and again: list, create, get, update,
                         run, runs, suspend, resume, approve, undo, delete
  keys                   API keys: list, create, delete, rotate, policy,
                         check-url, link-secret, rotate-link-secret
  webhooks               Webhooks: list, test
  usage, doctor          Quota; why the service does not work
  open, mcp, config      Web console; agents; profiles: set, list, use, delete
  completion, versionFURTHER    Completion for bash, zsh and fish; the version

The URL and the API key come from --server and --api-key, else TINTYPE_URL and
TINTYPE_API_KEY, else the profile of \`tintype config set URL -\`.

  tintype COMMAND --help   Help of a command
  tintype --help options   All capture options

Exit codes: 0 success, 1 failure, or a change found by diff, 2 wrong usage,
3 service not reachable or key refused, 130 interrupted.
`

const firstWords = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))]

/** The help of the program. */
export function overviewOf(names: readonly string[]): string {
  const further = names.filter((name) => !new RegExp(`\\b${name}\\b`).test(OVERVIEW)).map((name) => `, ${name}`)
  return OVERVIEW.replace(/FURTHER(.*)/, further.join('') || '$1')
}

/** Capture options have a page of their own. */
const withoutOptions = (command: Command): Command => ({
  ...command,
  flags: (command.flags ?? []).filter((flag) => !captureFlags.includes(flag)),
})

const helpOf = (command: Command, columns: number): string =>
  commandHelp(withoutOptions(command), { common: commonFlags, notes: command.notes, columns })

/** Where an unknown option is looked up. Undefined for a command whose help lists all of them. */
const whereOptionsAre = ({ name, flags = [] }: Command): string | undefined =>
  flags.some((flag) => captureFlags.includes(flag)) ? `See \`tintype ${name} --help\` and \`tintype --help options\`.` : undefined

/** The command of a command line, and the arguments after its name. */
function findCommand(args: readonly string[]): { command: Command; rest: readonly string[] } {
  const [first = '', second = ''] = args
  const command = commands.find(({ name }) => name === `${first} ${second}`) ?? commands.find(({ name }) => name === first)
  if (command !== undefined) return { command, rest: args.slice(command.name.split(' ').length) }
  const group = commands.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name.split(' ')[1] ?? '')
  if (group.length > 0 && !first.startsWith('-')) {
    const problem = second === '' || second.startsWith('-') ? `${first} needs a second word` : `unknown command "${first} ${second}"`
    throw new UsageError(`${problem}: ${group.join(', ')}.`)
  }
  if (first.startsWith('-')) throw new UsageError(`the command comes before ${first}. Run \`tintype --help\` to list the commands.`)
  throw new UsageError(`unknown command "${first}".${suggestion(first, firstWords) || ' Run `tintype --help` to list the commands.'}`)
}

/** The capture options with this word in their name or text, by group. */
function groupsWith(word: string): OptionGroup[] {
  const isFound = ({ name, summary }: CaptureOption): boolean => `${toFlagName(name)} ${summary}`.toLowerCase().includes(word.toLowerCase())
  const found = optionGroups
    .map(({ title, options }) => ({ title, options: options.filter(isFound) }))
    .filter(({ options }) => options.length > 0)
  if (found.length === 0) throw new UsageError(`no option has "${word}" in its name or text. Run \`tintype --help options\` to list all.`)
  return found
}

/** Help for the words after `--help`. */
function helpFor(words: readonly string[], { columns }: Output): string {
  if (words.length === 0) return overviewOf(firstWords)
  if (words[0] === 'options') return optionsHelp(groupsWith(words[1] ?? ''), toFlag, columns)
  const group = commands.filter(({ name }) => name.startsWith(`${words[0]} `))
  if (words.length === 1 && group.length > 0) return groupHelp(group.map(withoutOptions), { common: commonFlags, columns })
  return helpOf(findCommand(words).command, columns)
}

/** Refuses a number of positional arguments that the usage does not allow. */
function assertCount({ name, usage }: Command, count: number): void {
  const words = usage?.split(' ') ?? []
  const minimum = words.filter((word) => !word.startsWith('[')).length
  const maximum = words.some((word) => word.includes('...')) ? Number.POSITIVE_INFINITY : words.length
  if (count >= minimum && count <= maximum) return
  throw new UsageError(`\`tintype ${name}\` ${usage === undefined ? 'takes no arguments' : `needs ${usage}`}. Add --help for the usage.`)
}

async function execute(args: readonly string[], world: World, onContext: (context: Context) => void): Promise<ExitCode> {
  const [first] = args
  if (first === undefined) {
    world.stderr.write(overviewOf(firstWords))
    return EXIT.usage
  }
  if (first === '--help' || first === '-h' || first === 'help') {
    world.stdout.write(helpFor(args.slice(1), world.stdout))
    return EXIT.ok
  }
  if (first === '--version' || first === '-V') return execute(['version'], world, onContext)
  const isGroupHelp = args.length === 2 && (args[1] === '--help' || args[1] === '-h')
  if (isGroupHelp) {
    world.stdout.write(helpFor([first], world.stdout))
    return EXIT.ok
  }
  const { command, rest } = findCommand(args)
  const parsed = parseFlags([...(command.flags ?? []), ...commonFlags], rest, whereOptionsAre(command))
  if (parsed.values.get('help') === true) {
    const isAboutOptions = parsed.positionals[0] === 'options'
    world.stdout.write(isAboutOptions ? helpFor(parsed.positionals, world.stdout) : helpOf(command, world.stdout.columns))
    return EXIT.ok
  }
  assertCount(command, parsed.positionals.length)
  const context = new Context(world, parsed)
  onContext(context)
  const forward = world.isKubectlPlugin && !command.isLocal ? await forwardIfNeeded(context) : undefined
  try {
    return (await command.run(context)) ?? EXIT.ok
  } finally {
    forward?.stop()
  }
}

/** `kubectl tintype` finds the service itself if no URL is set. */
async function forwardIfNeeded(context: Context): Promise<Forward | undefined> {
  const { url, apiKey } = context.settings
  if (url !== undefined) return undefined
  const { environment, signal } = context.world
  const forward = await openForward({ environment, signal, namespace: context.text('namespace'), wantsKey: apiKey === undefined })
  context.useForward(forward)
  return forward
}

function serverOf(context: Context | undefined): string | undefined {
  try {
    return context?.settings.url
  } catch {
    return undefined
  }
}

/** Runs a command line. Resolves to the exit code; an error is one line on standard error. */
export async function run(args: readonly string[], world: World): Promise<ExitCode> {
  let context: Context | undefined
  try {
    return await execute(args, world, (made) => {
      context = made
    })
  } catch (error) {
    const report = toReport(error, serverOf(context))
    world.stderr.write(`tintype: ${toPrintable(report.message)}\n`)
    return report.exitCode
  }
}
