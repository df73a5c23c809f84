import { parseArgs } from 'node:util'
import { MAX_URLS } from '../../api-gateway/src/resources/batches/create-body.ts'
import { hostPlatform, type Platform, platforms } from '../cluster/images/platforms.ts'

/** Settings of one soak run. */
export interface SoakSettings {
  /** Names of parts. Empty: all. */
  names: string[]
  /** Requested screenshots per second. Undefined: the default of the part. */
  rate: number | undefined
  /** Screenshots per request, in the parts throughput and steady. */
  batch: number
  /** Seconds of the throughput part. */
  seconds: number
  /** Minutes of load before the measured time of the steady part. */
  fill: number
  /** Minutes of the steady part, and of the outage. */
  minutes: number
  /** Live Screenshots of the part that holds many, and schedules of the part schedules. */
  live: number
  /** Archived records of the simulated year. */
  records: number
  /** Directory for processor profiles of operators, and of the steady part's gateway. */
  profile: string | undefined
  /** Chapter of the part cluster-manual, chapters of the part comparisons with commas between, or a part of the name of an attack of the part neighbors. Absent: all. */
  chapter: string | undefined
  /** Rounds of the part compare, and of the pages of the part comparisons that do not change. */
  rounds: number
  /** Commit that cluster-upgrade upgrades from (default 1230566b), and that compare measures against (default HEAD). */
  from: string | undefined
  /** Platforms of the part release. */
  platforms: readonly Platform[]
  /** Images of the part release. Absent: all. */
  only: readonly string[] | undefined
  /** True if the part release also installs into the running cluster. */
  cluster: boolean
  write: boolean
}

/** Screenshots per second of the parts throughput and steady. */
export const RATE = 60

/** The text of `--help`. */
export const help = (names: readonly { name: string; shows: string }[]): string => `npm run soak -- [options] [part …]

Runs tests that take too long for every test run. Parts:

${names.map(({ name, shows }) => `  ${name.padEnd(16)} ${shows}`).join('\n')}

  --rate N       requested screenshots per second (default ${RATE}; outage: 10)
  --batch N      throughput, steady: screenshots per request, at most ${MAX_URLS} (default 1)
  --seconds S    throughput: duration in seconds (default 60)
  --minutes M    steady: duration in minutes; outage: length of the outage (default 20)
  --fill M       steady: minutes of the same load before the measurement, to fill records, history and memory (default 0)
  --live N       many: live Screenshots; schedules: schedules (default 10000); large: live Screenshots, at most 1000
  --records N    year: archived records (default 1000000)
  --profile DIR  operators, and the gateway of the steady part, write processor profiles there
  --chapter NAME cluster-manual, comparisons: only this chapter; neighbors: only attacks whose name has one of these texts (separated by commas)
  --rounds N     compare: rounds; comparisons: captures of each unchanging page after the first (default 9)
  --from COMMIT  cluster-upgrade: upgrade from this commit (default 1230566b); compare: measure against it (default HEAD)
  --platforms L  release: ${platforms.join(',')} (default: this machine's, ${hostPlatform}; emulation of the other takes many times as long)
  --only LIST    release: only these images
  --cluster      release: also installs from the registry into the running cluster of \`npm start\`, and runs the end-to-end tests there
  --write        also writes the figures into docs/benchmarks.md
  --help         this text

Parts named cluster-… and neighbors need the running cluster of \`npm start\`; all others start an API server, an etcd that waits for the disk, a MinIO, operators and
gateways of their own, on loopback, with simulated runners. Results are valid only on an otherwise idle machine.
`

const options = {
  rate: { type: 'string' },
  batch: { type: 'string', default: '1' },
  seconds: { type: 'string', default: '60' },
  minutes: { type: 'string', default: '20' },
  fill: { type: 'string', default: '0' },
  live: { type: 'string', default: '10000' },
  records: { type: 'string', default: '1000000' },
  profile: { type: 'string' },
  chapter: { type: 'string' },
  rounds: { type: 'string', default: '9' },
  from: { type: 'string' },
  platforms: { type: 'string', default: hostPlatform },
  only: { type: 'string' },
  cluster: { type: 'boolean', default: false },
  write: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

type Measure = 'rounds' | 'rate' | 'batch' | 'seconds' | 'fill' | 'minutes' | 'live' | 'records'

/** Reads the command line. Undefined: print the help. @throws with the invalid value */
export function parseSettings(args: string[]): SoakSettings | undefined {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  if (values.help) return undefined
  const read = (name: Measure, isIn: (value: number) => boolean, what: string): number => {
    const value = Number(values[name])
    if (!isIn(value)) throw new Error(`--${name} must be ${what}`)
    return value
  }
  const positive = (name: Measure) => read(name, (value) => value > 0, 'a number above 0')
  return {
    names: positionals,
    rate: values.rate === undefined ? undefined : positive('rate'),
    batch: read(
      'batch',
      (value) => Number.isInteger(value) && value >= 1 && value <= MAX_URLS,
      `a whole number from 1 to ${MAX_URLS}, as the API takes them`,
    ),
    seconds: positive('seconds'),
    fill: read('fill', (value) => value >= 0, 'a number of minutes, 0 or more'),
    minutes: positive('minutes'),
    live: positive('live'),
    records: positive('records'),
    profile: values.profile,
    chapter: values.chapter,
    rounds: read('rounds', (value) => Number.isInteger(value) && value >= 1, 'a whole number from 1 on'),
    from: values.from,
    platforms: readPlatforms(values.platforms),
    only: values.only?.split(','),
    cluster: values.cluster,
    write: values.write,
  }
}

function readPlatforms(list: string): Platform[] {
  const unknown = list.split(',').filter((name) => !platforms.some((platform) => platform === name))
  if (unknown.length > 0) throw new Error(`--platforms ${unknown.join(',')} is unknown: choose from ${platforms.join(',')}`)
  return platforms.filter((platform) => list.split(',').includes(platform))
}

/** Node flags that write a processor profile at exit. */
export const profileFlags = (directory: string | undefined): string[] =>
  directory === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${directory}`]

/** Suffix of table titles with the batch size. */
export const batchSuffix = (batch: number): string => (batch === 1 ? '' : `, asked for in batches of ${batch}`)
