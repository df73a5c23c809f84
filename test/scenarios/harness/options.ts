import { parseArgs } from 'node:util'
import { MAX_URLS } from '../../../api-gateway/src/resources/batches/create-body.ts'
import { platforms } from '../../cluster/images/platforms.ts'

// The options of the command line. A scenario lists those that it takes, with its defaults.

interface NumberRule {
  argument: string
  help: string
  /** What the value must be. */
  must: string
  isValid: (value: number) => boolean
}

const count = (help: string): NumberRule => ({
  argument: 'N',
  help,
  must: 'a whole number from 1 on',
  isValid: (value) => Number.isInteger(value) && value >= 1,
})
const positive = (argument: string, help: string): NumberRule => ({
  argument,
  help,
  must: 'a number above 0',
  isValid: (value) => value > 0,
})

const NUMBERS = {
  rounds: count('rounds'),
  captures: count('captures of each page, or of each side, in each round'),
  clients: count('concurrent clients'),
  live: count('live Screenshots, or schedules'),
  records: count('archived records, or Screenshots in memory'),
  rate: positive('N', 'requested screenshots per second'),
  seconds: positive('S', 'duration of each load'),
  minutes: positive('M', 'duration in minutes'),
  fill: { argument: 'M', help: 'minutes of the same load before', must: 'a number of minutes, 0 or more', isValid: (value) => value >= 0 },
  pause: { argument: 'MS', help: 'rest between two captures', must: 'a number, 0 or more', isValid: (value) => value >= 0 },
  batch: {
    argument: 'N',
    help: 'screenshots per request',
    must: `a whole number from 1 to ${MAX_URLS}, as the API takes them`,
    isValid: (value) => Number.isInteger(value) && value >= 1 && value <= MAX_URLS,
  },
} as const satisfies Record<string, NumberRule>

const TEXTS = {
  page: { argument: 'URL', help: 'page to capture; may be repeated' },
  profile: { argument: 'DIR', help: 'operators and gateways write processor profiles there, which makes them slower' },
  from: { argument: 'COMMIT', help: 'the commit to compare with, or to upgrade from' },
  chapter: { argument: 'NAME', help: 'only these chapters, or attacks with these texts in their name; with commas between' },
  platforms: { argument: 'LIST', help: `among ${platforms.join(',')}; emulation of another platform takes many times as long` },
  only: { argument: 'LIST', help: 'only these images' },
} as const

const CLUSTER_HELP = 'also installs from the registry into the running cluster, and runs the end-to-end tests there'

/** Values of all options. */
type Values = Record<keyof typeof NUMBERS, number> & Record<keyof typeof TEXTS, string | undefined> & { cluster: boolean }

/** Options of a scenario with their defaults. Undefined: a text without a default. */
export type Options = Partial<Values>

/** The options of a scenario as it gets them. */
export type Settings<O extends Options> = {
  [Name in keyof O & keyof Values]: undefined extends O[Name] ? Values[Name] : NonNullable<Values[Name]>
}

/** The two commands, which have separate lists of scenarios. */
export type Command = 'bench' | 'soak'

/** A parsed command line. */
export interface CommandLine {
  /** Names of scenarios. Empty: all. */
  names: string[]
  given: Options
  /** Writes the results to docs/benchmarks.md. */
  write: boolean
}

const parsed = {
  ...Object.fromEntries(
    [...Object.keys(NUMBERS), ...Object.keys(TEXTS)].map((name) => [name, { type: 'string', multiple: true } as const]),
  ),
  cluster: { type: 'boolean' },
  write: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

/** Reads the command line. Undefined: print the help. @throws with the invalid value */
export function parseCommandLine(command: Command, args: readonly string[]): CommandLine | undefined {
  const { values, positionals } = parseArgs({ args: [...args], options: parsed, allowPositionals: true })
  const { help, write, cluster, ...texts } = values as Record<string, string[] | undefined> & Record<'help' | 'write' | 'cluster', boolean>
  if (help) return undefined
  const given: Record<string, string | number | boolean> = cluster ? { cluster } : {}
  const names = [...positionals]
  for (const [name, [first = '', ...more] = []] of Object.entries(texts)) {
    if (command === 'bench' && name === 'only') names.push(first, ...more)
    else given[name] = name in NUMBERS ? readNumber(name as keyof typeof NUMBERS, first) : [first, ...more].join(' ')
  }
  return { names, given, write }
}

function readNumber(name: keyof typeof NUMBERS, text: string): number {
  const rule: NumberRule = NUMBERS[name]
  const value = Number(text)
  if (text === '' || !rule.isValid(value)) throw new Error(`--${name} must be ${rule.must}`)
  return value
}

interface Described {
  name: string
  shows: string
  stage?: { name: string }
  options?: Options
}

const USAGE: Readonly<Record<Command, string>> = {
  bench: `npm run bench -- [options] [--only NAME]…

Measures the running system, and parts of it.`,
  soak: `npm run soak -- [options] [NAME]…

Runs tests that take too long for every test run. The exit code is 1 if a claim was not met.`,
}

/** The text of `--help`: every scenario, and every option with the scenarios that take it. */
export function helpOf(command: Command, scenarios: readonly Described[]): string {
  const line = (name: string, text: string) => `  ${name.padEnd(20)} ${text}`
  const ofOption = (name: keyof Values, { argument, help }: { argument: string; help: string }): string[] => {
    const users = scenarios.filter(({ options = {} }) => name in options)
    const byDefault = Map.groupBy(users, (user) => user.options?.[name])
    const defaults = [...byDefault].map(([value, all]) => {
      const names = all.map((user) => user.name).join(', ')
      return value === undefined ? names : `${names}: ${value}`
    })
    return users.length === 0 ? [] : [line(`--${name} ${argument}`.trim(), `${help} (${defaults.join('; ')})`)]
  }
  const options = Object.entries({ ...NUMBERS, ...TEXTS, cluster: { argument: '', help: CLUSTER_HELP } })
  return [
    `${USAGE[command]} Results are valid only on an otherwise idle machine.\n`,
    ...scenarios.map(({ name, shows, stage }) => line(name, `${shows}${stage ? ` (${stage.name})` : ''}`)),
    '\nIn parentheses: what a scenario needs. The cluster is that of `npm start`, or of TINTYPE_CLUSTER=current. A plane is an API server, an etcd,',
    'a MinIO, operators and gateways on loopback, with simulated runners. An engine is browsers on loopback.\n',
    ...options.flatMap(([name, rule]) => ofOption(name as keyof Values, rule)),
    line('--write', 'also writes the results into docs/benchmarks.md'),
    line('--help', 'this text'),
  ].join('\n')
}
