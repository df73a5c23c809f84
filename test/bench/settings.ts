import { parseArgs } from 'node:util'

/** Settings of one run of the benchmark. */
export interface Settings {
  rounds: number
  /** Captures per page, kind and round. */
  captures: number
  /** Milliseconds between two captures of the product. */
  pauseMilliseconds: number
  /** Screenshots that are requested at once. */
  burst: number
  /** Browsers of the bare loop and runners of the product during the burst. */
  browsers: number
  pages: readonly string[]
  /** REST: screenshots created per method and round. */
  creates: number
  /** REST: concurrent clients. */
  clients: number
  /** REST: seconds of reading and of a flood per round. Webhooks: seconds of each stream of events. */
  seconds: number
  /** REST: live Screenshots in a gateway's informer cache when its memory is measured. */
  records: number
  /** REST: directory for processor profiles of the gateways. Undefined: no profiles. */
  profile?: string | undefined
  /** Price: a commit to compare with. */
  from?: string | undefined
  only: readonly Part[]
  /** Writes the results to docs/benchmarks.md. */
  write: boolean
}

/** Parts that measure the running system. */
export const CAPTURE_PARTS = ['sequential', 'accounts', 'one-request', 'burst', 'batches', 'memory'] as const
/** Parts that start their own gateways, API server and store. */
export const REST_PARTS = ['rest-creates', 'rest-reads', 'rest-floods', 'rest-memory'] as const
/** Deliveries of an operator to an endpoint of the benchmark. */
export const WEBHOOK_PARTS = ['webhooks', 'webhook-floods'] as const
/** Parts that start everything, with simulated runners. */
export const FAIRNESS_PARTS = ['fairness'] as const
/** Recall of the filter lists, measured with a list that is not one of their sources. */
export const BLOCKING_PARTS = ['blocking'] as const
/** Parts that start their own runners, without a cluster. */
export const ENGINE_PARTS = ['engine', 'growth'] as const
/** Processor time of one picture by program, on the running system. */
export const PRICE_PARTS = ['price'] as const
/** Cost of the wait for visual stability on static pages. */
export const STABILITY_PARTS = ['stability'] as const
/** Time and memory of full pages, on a separate runner. */
export const TALL_PARTS = ['tall'] as const
/** Hostile pages on the running system, on a separate pool. */
export const HOSTILE_PARTS = ['hostile'] as const
/** The two bundled stores beside each other. */
export const STORES_PARTS = ['stores'] as const
/** Signed links to a cached picture, through a gateway of its own. */
export const LINK_PARTS = ['links'] as const
/** Time and memory of comparisons with an earlier picture. */
export const COMPARE_PARTS = ['compare'] as const
/** Time of videos. */
export const VIDEO_PARTS = ['video'] as const
/** The web console in a browser, at a gateway of its own. */
export const CONSOLE_PARTS = ['console-pages', 'console-lists'] as const
/** All parts. */
export const PARTS = [
  ...CAPTURE_PARTS,
  ...REST_PARTS,
  ...WEBHOOK_PARTS,
  ...FAIRNESS_PARTS,
  ...BLOCKING_PARTS,
  ...ENGINE_PARTS,
  ...PRICE_PARTS,
  ...STABILITY_PARTS,
  ...TALL_PARTS,
  ...HOSTILE_PARTS,
  ...STORES_PARTS,
  ...LINK_PARTS,
  ...VIDEO_PARTS,
  ...COMPARE_PARTS,
  ...CONSOLE_PARTS,
] as const
export type Part = (typeof PARTS)[number]

const DEFAULT_PAGES = ['http://pages.sites.svc.cluster.local/quadrants', 'http://docs.sites.svc.cluster.local/en-US/apt.html']

/** The text of `--help`. */
export const HELP = `npm run bench -- [options]

Measures the running system (npm start) against a bare playwright-core loop in the runner's own image, on the same node and in the same run.

  --rounds N       rounds, the loop and the product in turns (default 5)
  --captures N     captures of each page in each round (default 10)
  --pause MS       rest between two captures, so that the runner is idle (default 200)
  --burst N        screenshots requested at once (default 50)
  --browsers N     browsers of the loop, and runners of the product, in the burst (default 2)
  --page URL       page to capture; may be repeated
  --creates N      rest: screenshots created per method and round (default 1000)
  --clients N      rest and links: concurrent clients (default 32)
  --seconds S      rest, links: seconds of each kind of request in each round; webhooks: of each stream of events (default 5)
  --records N      rest: Screenshots in memory (default 20000)
  --profile DIR    rest: each gateway writes a processor profile there, which makes it slower
  --from COMMIT    price: also installs the release of this commit beside the running one, and compares both
  --only PART      one of ${PARTS.join(', ')}; may be repeated
  --write          also writes the figures into docs/benchmarks.md
  --help           this text

The product's time starts with the 202 of POST /api/v1/screenshots and ends when GET ?wait= returns \`completed\`. The loop's time starts before the
context is created and ends with the picture in memory. Some parts change the pool's size and restore it afterwards.
The parts named rest-… and links start an API server, an etcd that waits for the disk, a MinIO and gateways of their own, on loopback, and need no
cluster.
The part named webhooks runs an operator's deliveries in this process, fed by a stub in place of the API server and then by an API server of its own, to
a receiver that is a process of its own. The part named webhook-floods posts 40 events of one account to receivers that send without end.
The part named fairness starts everything except browsers, with simulated runners. It measures how long accounts wait behind batches of others.
The parts engine, tall and growth run runners on loopback, without a cluster: their speed beside the bare loop, page.screenshot(), puppeteer-cluster and
shot-scraper (installed beside the repository, from npm and PyPI) on the same pages; time by step and memory of full pages of 10,000 to 50,000
pixels; memory over 1,300 captures (minutes).
The part named price measures the processor time of one picture by program, with one, two and four at a time, and that of the bare loop in turns. With
--from, it builds the programs of a commit, installs them in a namespace of their own, and removes them afterwards.
The part named stability captures pages that stand still with and without the wait for visual stability, in turns; it needs no cluster.
The part named video records videos of five seconds; it needs no cluster.
The part named hostile captures pages on one runner that try to block or exhaust it, and an ordinary page after each.
The part named batches captures two batches of a hundred pages by REST, by one account and by twenty.
The part named stores measures uploads, downloads, lists of 100,000 objects and memory of MinIO and versitygw; it needs no cluster.
The part named compare compares pictures of 1,080 and 25,000 rows as a runner does; it needs no cluster.
The parts named console-… open the web console at a gateway of their own: console-pages with Lighthouse, which is installed from npm beside the
repository; console-lists with 10,000 screenshots, a batch, and 20 browsers. They need no cluster, and a machine without other work.
The part named blocking checks the filter lists with URLs of a list that is not one of their sources; it needs no cluster.
Run --only memory ten minutes after the last capture, because memory is released slowly.
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
  from: { type: 'string' },
  only: { type: 'string', multiple: true },
  write: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

type NumberName = 'rounds' | 'captures' | 'pause' | 'burst' | 'browsers' | 'creates' | 'clients' | 'seconds' | 'records'

/** Parses the command line. Undefined for `--help`. @throws with a readable message */
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
    from: values.from,
    pages: values.page ?? DEFAULT_PAGES,
    only: values.only === undefined ? PARTS : values.only.map(toPart),
    write: values.write,
  }
}

function toPart(text: string): Part {
  const part = PARTS.find((name) => name === text)
  if (!part) throw new Error(`--only ${text}: unknown part. Parts: ${PARTS.join(', ')}`)
  return part
}
