import { parseArgs } from 'node:util'

/** What one run of the benchmark does. */
export interface Settings {
  rounds: number
  /** Captures of each page, of each kind, in each round. */
  captures: number
  /** Milliseconds between two captures of the product. */
  pauseMilliseconds: number
  /** Screenshots that are asked for at once. */
  burst: number
  /** Browsers of the bare loop and runners of the product during the burst. */
  browsers: number
  pages: readonly string[]
  /** REST: screenshots created in each way, in each round. */
  creates: number
  /** REST: clients at once. */
  clients: number
  /** REST: seconds of reading, and of a flood, in each round; webhooks: of each stream of events. */
  seconds: number
  /** REST: live Screenshots of which a gateway keeps a copy when its memory is measured. */
  records: number
  /** REST: directory for processor profiles of the gateways; undefined: none are made. */
  profile?: string | undefined
  only: readonly Part[]
  /** Writes what was measured into docs/benchmarks.md. */
  write: boolean
}

/** What is measured on the running system. */
export const CAPTURE_PARTS = ['sequential', 'accounts', 'one-request', 'burst', 'batches', 'memory'] as const
/** What is measured on gateways, an API server and a store of the benchmark's own. */
export const REST_PARTS = ['rest-creates', 'rest-reads', 'rest-floods', 'rest-memory'] as const
/** What is measured on an operator's deliveries, with an endpoint of the benchmark's own. */
export const WEBHOOK_PARTS = ['webhooks'] as const
/** What is measured on a whole plane of the benchmark's own, with simulated runners. */
export const FAIRNESS_PARTS = ['fairness'] as const
/** What the filter lists refuse, judged by a list that they were not made from. */
export const BLOCKING_PARTS = ['blocking'] as const
/** What is measured on runners of the benchmark's own, without a cluster. */
export const ENGINE_PARTS = ['engine', 'growth'] as const
/** What captures of a batch gain by sharing responses, on a runner of the benchmark's own. */
export const HTTP_CACHE_PARTS = ['http-cache'] as const
/** What the wait for visual stability costs pages that stand still. */
export const STABILITY_PARTS = ['stability'] as const
/** Time and memory of full pages, on a runner of the benchmark's own. */
export const TALL_PARTS = ['tall'] as const
/** What is measured on the running system with a runner of its own, before pages that want to keep it. */
export const HOSTILE_PARTS = ['hostile'] as const
/** What our patches cost the bundled store. */
export const STORE_PARTS = ['store'] as const
/** What can be measured. */
export const PARTS = [
  ...CAPTURE_PARTS,
  ...REST_PARTS,
  ...WEBHOOK_PARTS,
  ...FAIRNESS_PARTS,
  ...BLOCKING_PARTS,
  ...ENGINE_PARTS,
  ...HTTP_CACHE_PARTS,
  ...STABILITY_PARTS,
  ...TALL_PARTS,
  ...HOSTILE_PARTS,
  ...STORE_PARTS,
] as const
export type Part = (typeof PARTS)[number]

const DEFAULT_PAGES = ['http://pages.sites.svc.cluster.local/quadrants', 'http://docs.sites.svc.cluster.local/en-US/apt.html']

/** The text of `--help`. */
export const HELP = `npm run bench -- [options]

Measures the running system (npm start) against a bare playwright-core loop in the runner's own image, on the same node and in the same run.

  --rounds N       rounds, the loop and the product in turns (default 5)
  --captures N     captures of each page in each round (default 10)
  --pause MS       rest between two captures, so that the runner is idle (default 200)
  --burst N        screenshots asked for at once (default 50)
  --browsers N     browsers of the loop, and runners of the product, in the burst (default 2)
  --page URL       page to capture; may be repeated
  --creates N      rest: screenshots created in each way in each round (default 1000)
  --clients N      rest: clients at once (default 32)
  --seconds S      rest: seconds of reading or flooding in each round; webhooks: of each stream of events (default 5)
  --records N      rest: Screenshots in memory (default 20000)
  --profile DIR    rest: has each gateway write a processor profile there, which costs some of its speed
  --only PART      one of ${PARTS.join(', ')}; may be repeated
  --write          also writes the figures into docs/benchmarks.md
  --help           this text

The product's time begins with the 202 of POST /api/v1/screenshots and ends when GET ?wait= says \`completed\`. The loop's begins before the
context is made and ends with the picture in memory. The pool's size is changed during some parts and put back afterwards.
The parts named rest-… start an API server, an etcd that waits for the disk, a MinIO and gateways of their own, on loopback, and need no cluster.
The part named webhooks runs an operator's deliveries in this process, fed by a stub in place of the API server and then by an API server of its own, to
a receiver that is a process of its own.
The part named fairness starts all of it but browsers, with runners that only take their time: who waits how long behind whose batches.
The parts engine, tall and growth run runners on loopback, without a cluster: their speed beside the bare loop, page.screenshot(), puppeteer-cluster and
shot-scraper (installed beside the repository, from npm and PyPI) on the same pages; time by step and memory of full pages of 10,000 to 50,000
pixels; memory over 1,300 captures (minutes).
The part named http-cache captures batches of a hundred pages of one site with and without http_cache, near and 50 ms away; it needs no cluster.
The part named stability captures pages that stand still with and without the wait for visual stability, in turns; it needs no cluster.
The part named hostile has one runner capture pages that want to keep it or use it up, and an ordinary one after each.
The part named batches captures two batches of a hundred pages by REST, of one account and of twenty.
The part named store compares presigned uploads and reads on the bundled MinIO with MinIO as upstream has it, in turns; it needs no cluster.
The part named blocking asks the filter lists about addresses of a list that they were not made from; it needs nothing else.
Idle memory means something only ten minutes after the last work: --only memory.
`

const options = {
  rounds: { type: 'string', default: '5' },
  captures: { type: 'string', default: '10' },
  pause: { type: 'string', default: '200' },
  burst: { type: 'string', default: '50' },
  browsers: { type: 'string', default: '2' },
  page: { type: 'string', multiple: true },
  creates: { type: 'string', default: '1000' },
  clients: { type: 'string', default: '32' },
  seconds: { type: 'string', default: '5' },
  records: { type: 'string', default: '20000' },
  profile: { type: 'string' },
  only: { type: 'string', multiple: true },
  write: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

type NumberName = 'rounds' | 'captures' | 'pause' | 'burst' | 'browsers' | 'creates' | 'clients' | 'seconds' | 'records'

/** Reads the command line. `undefined`: help is wanted. @throws with what is wrong */
export function parseSettings(args: string[]): Settings | undefined {
  const { values } = parseArgs({ args, options })
  if (values.help) return undefined
  const whole = (name: NumberName, least: number): number => {
    const number = Number(values[name])
    if (!Number.isInteger(number) || number < least) throw new Error(`--${name} must be a whole number from ${least} on`)
    return number
  }
  return {
    rounds: whole('rounds', 1),
    captures: whole('captures', 1),
    pauseMilliseconds: whole('pause', 0),
    burst: whole('burst', 1),
    browsers: whole('browsers', 1),
    creates: whole('creates', 1),
    clients: whole('clients', 1),
    seconds: whole('seconds', 1),
    records: whole('records', 1),
    profile: values.profile,
    pages: values.page ?? DEFAULT_PAGES,
    only: values.only === undefined ? PARTS : values.only.map(toPart),
    write: values.write,
  }
}

function toPart(text: string): Part {
  const part = PARTS.find((name) => name === text)
  if (!part) throw new Error(`--only ${text}: there are ${PARTS.join(', ')}`)
  return part
}
