import { Tintype } from '../../../client/src/index.ts'
import type { CommandLine, Flag } from '../arguments/flag.ts'
import { givenBy, type Parsed } from '../arguments/parse.ts'
import { type ExitCode, UsageError } from '../common/errors.ts'
import { type Environment, requireService, resolveSettings, type Settings } from '../settings/settings.ts'
import { formatTable, type Output, toPrintable, toPrintableJson } from '../terminal/output.ts'

const INTERACTIVE_RETRIES = 2

/** The world around a command. */
export interface World {
  stdout: Output
  stderr: Output
  stdin: AsyncIterable<Uint8Array>
  environment: Environment
  /** Fires when the user interrupts the program. */
  signal: AbortSignal
  now: () => Date
  /** True for `kubectl tintype`, which can find the service through kubectl. */
  isKubectlPlugin: boolean
}

/** What a command gets. */
export class Context {
  readonly world: World
  readonly parsed: Parsed
  /** Settings that replace the usual ones: those of a port that kubectl forwards. */
  #forwarded: Settings | undefined
  #namespace: string | undefined

  constructor(world: World, parsed: Parsed) {
    this.world = world
    this.parsed = parsed
  }

  get settings(): Settings {
    if (this.#forwarded !== undefined) return this.#forwarded
    const [server, apiKey, profile] = [this.text('server'), this.text('api-key'), this.text('profile')]
    return resolveSettings({ server, apiKey, profile }, this.world.environment)
  }

  /** Uses a forwarded port from now on. */
  useForward({ url, apiKey, namespace }: { url: string; apiKey: string | undefined; namespace: string }): void {
    this.#namespace = namespace
    const settings = this.settings
    const keySource = apiKey === undefined ? settings.keySource : 'Secret of the release'
    this.#forwarded = { ...settings, url, apiKey: apiKey ?? settings.apiKey, urlSource: 'kubectl port-forward', keySource }
  }

  /** Names the service for the state of a batch. A forwarded port differs each time. */
  get serviceName(): string | undefined {
    return this.#namespace === undefined ? this.settings.url : `kubectl:${this.#namespace}`
  }

  /** True if the service is reached through a port that kubectl forwards, which ends with the program. */
  get isForwarded(): boolean {
    return this.#forwarded !== undefined
  }

  /** A client of the service that the settings name. A person does not wait long for a wrong URL, so there are few retries by default. */
  client({ retries = INTERACTIVE_RETRIES }: { retries?: number | undefined } = {}): Tintype {
    const { url, apiKey } = requireService(this.settings)
    return new Tintype({ baseUrl: url, apiKey, retries })
  }

  text(name: string): string | undefined {
    return this.parsed.values.get(name) as string | undefined
  }

  number(name: string): number | undefined {
    return this.parsed.values.get(name) as number | undefined
  }

  list(name: string): readonly string[] | undefined {
    return this.parsed.values.get(name) as readonly string[] | undefined
  }

  isOn(name: string): boolean {
    return this.parsed.values.get(name) === true
  }

  /** What the command line gives for these flags, by the names of the API. */
  given(flags: readonly Flag[]): Record<string, unknown> {
    return givenBy(this.parsed, flags)
  }

  /** The positional argument at an index. */
  argument(index: number): string {
    const value = this.parsed.positionals[index]
    if (value === undefined) throw new UsageError('an argument is missing. Add --help for the usage.')
    return value
  }

  /** Writes lines to standard output. */
  print(...lines: readonly string[]): void {
    for (const line of lines) this.world.stdout.write(`${toPrintable(line)}\n`)
  }

  /** Writes a line about progress to standard error. */
  note(line: string): void {
    this.world.stderr.write(`${toPrintable(line)}\n`)
  }

  /** Writes a record as a line of JSON. */
  printJson(value: unknown): void {
    this.world.stdout.write(`${toPrintableJson(value)}\n`)
  }

  /** Writes a record as lines for people, or with --json as JSON. */
  show(record: unknown, ...lines: readonly string[]): void {
    if (this.isOn('json')) this.printJson(record)
    else this.print(...lines)
  }

  /** Writes records as a table, or with --json as JSON. `none` is the text for no records. */
  showTable<T>(records: readonly T[], head: readonly string[], toRow: (record: T) => readonly string[], none?: string): void {
    if (this.isOn('json')) for (const record of records) this.printJson(record)
    else if (records.length === 0 && none !== undefined) this.print(none)
    else this.world.stdout.write(formatTable(head, records.map(toRow)))
  }
}

/** A command of the program. */
export interface Command extends CommandLine {
  /** Lines after the flags in help. */
  notes?: readonly string[]
  /** True if the command needs no port that kubectl forwards. */
  isLocal?: boolean
  /** Returns the exit code, by default that of a success. */
  run: (context: Context) => Promise<ExitCode | undefined> | ExitCode | undefined
}

/** A command that deletes a record of a kind. */
export const toDeleteCommand = (
  name: string,
  summary: string,
  recordsOf: (client: Tintype) => Pick<Tintype['keys'], 'delete'>,
): Command => ({
  name,
  usage: 'ID',
  summary,
  async run(context) {
    const id = context.argument(0)
    await recordsOf(context.client()).delete(id, { signal: context.world.signal })
    context.show({ id, deleted: true }, `deleted ${id}`)
  },
})

/** Flags that every command accepts. */
export const commonFlags: readonly Flag[] = [
  { name: 'server', kind: 'text', value: 'URL', summary: 'URL of the service, instead of TINTYPE_URL' },
  { name: 'api-key', kind: 'text', value: 'KEY', summary: 'API key, instead of TINTYPE_API_KEY' },
  { name: 'profile', kind: 'text', value: 'NAME', summary: 'Profile, instead of the environment' },
  { name: 'namespace', short: 'n', kind: 'text', value: 'NAME', summary: 'For `kubectl tintype`: namespace of the service' },
  { name: 'json', kind: 'boolean', summary: 'Prints records as JSON, one on each line' },
  { name: 'help', short: 'h', kind: 'boolean', summary: 'Prints help and ends' },
]
