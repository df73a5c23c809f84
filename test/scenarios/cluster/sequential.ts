import { setTimeout as sleep } from 'node:timers/promises'
import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { kubectl, kubectlJson } from '../../support/cluster/environment.ts'
import { readLoad } from '../harness/machine.ts'
import { fingerprint } from '../harness/pictures.ts'
import { type Context, type Report, scenario } from '../harness/scenario.ts'
import { median, summarize } from '../harness/statistics.ts'
import { fixed, tableOf, toDifference } from '../harness/table.ts'
import { clusterStage, QUADRANTS } from './stage/cluster-objects.ts'
import { Api, type BarePod, openBarePod, readObjects, waitUntilIdle } from './stage/running-system.ts'

/** One page in one round: milliseconds of each capture in order. */
interface Sample {
  round: number
  page: string
  bare: number[]
  /** The loop with page.screenshot(). */
  library: number[]
  /** From the 202 to `completed`. */
  product: number[]
  /** From the request's first byte to `completed`. */
  withRequest: number[]
  shots: Screenshot[]
  /** Fingerprints of the pictures of both sides. */
  prints: string[]
  /** Screenshots that the loop had to repeat. */
  repeated: number
  load: number
}

const options = { rounds: 5, captures: 10, pause: 200, page: `${QUADRANTS} http://docs.sites.svc.cluster.local/en-US/apt.html` }
type Run = Context<undefined, typeof options>

/** `docs…/en-US/apt.html` for http://docs.sites.svc.cluster.local/en-US/apt.html. */
function shortName(page: string): string {
  const { hostname, pathname } = new URL(page)
  return `${hostname.split('.')[0]}…${pathname}`
}

export const sequential = scenario({
  name: 'sequential',
  shows: 'captures one after the other, beside a bare playwright-core loop in the runner’s own image, in turns',
  stage: clusterStage,
  options,
  run: async (context) => {
    const samples = await measure(context)
    showMedians(context, samples)
    context.table(
      tableOf('Sequential captures, by round (ms)', samples.toSorted(byPage), {
        page: ({ page }) => shortName(page),
        round: ({ round }) => round,
        'loop p50': ({ bare }) => summarize(bare).p50,
        'loop p95': ({ bare }) => summarize(bare).p95,
        'product p50': ({ product }) => summarize(product).p50,
        'product p95': ({ product }) => summarize(product).p95,
        'difference p50': ({ product, bare }) => toDifference(summarize(product).p50 - summarize(bare).p50),
        'difference p95': ({ product, bare }) => toDifference(summarize(product).p95 - summarize(bare).p95),
        repeated: ({ repeated }) => repeated,
        load: ({ load }) => load.toFixed(1),
      }),
    )
    showStages(context, samples)
  },
})

const byPage = (one: Sample, other: Sample): number => one.page.localeCompare(other.page) || one.round - other.round

/** Loop and product alternate at each capture, so that other load on the machine affects both. */
async function measure({ settings, ends, progress }: Run): Promise<Sample[]> {
  const { rounds, captures, pause, page: pages } = settings
  const bare = await openBarePod(ends)
  const api = new Api()
  const samples: Sample[] = []
  // Round 0 fills the caches of both sides and is not counted.
  for (let round = 0; round <= rounds; round++) {
    for (const page of pages.split(' ')) {
      await waitUntilIdle()
      const sample = newSample(round, page)
      await measurePage(sample, { bare, api, captures: round === 0 ? 2 : captures, pause })
      if (round > 0) samples.push(sample)
      progress(`round ${round}: ${page}`)
    }
  }
  return samples
}

interface Turn {
  bare: BarePod
  api: Api
  captures: number
  /** Milliseconds before each capture of the product, so that the runner is idle. */
  pause: number
}

async function measurePage(sample: Sample, { bare, api, captures, pause }: Turn): Promise<void> {
  const { page } = sample
  const made: string[] = []
  const order = { pages: [page], count: 1, browsers: 1, pictures: true }
  for (let n = 0; n < captures; n++) {
    const raw = await bare.run({ ...order, way: 'raw' })
    const library = await bare.run({ ...order, way: 'library' })
    await sleep(pause)
    const started = performance.now()
    const { id, at: accepted } = await api.create(page)
    const { record, at } = await api.completed(id)
    made.push(id)
    sample.bare.push(...(raw.milliseconds[page] ?? []))
    sample.library.push(...(library.milliseconds[page] ?? []))
    sample.product.push(at - accepted)
    sample.withRequest.push(at - started)
    const files = [Buffer.from(raw.pictures[page] ?? '', 'base64'), await api.download(record)]
    sample.prints.push(...(await Promise.all(files.map(fingerprint))))
    sample.repeated += raw.repeated
  }
  sample.shots = await readObjects(made)
  await api.remove(made)
}

const newSample = (round: number, page: string): Sample => ({
  round,
  page,
  bare: [],
  library: [],
  product: [],
  withRequest: [],
  shots: [],
  prints: [],
  repeated: 0,
  load: readLoad(),
})

/** For each page the median of the rounds' p50s: the value for the limit of 150 ms, and the other durations. */
function showMedians({ table }: Report, samples: readonly Sample[]): void {
  const title = 'Sequential captures, one idle runner (median of the rounds’ p50, ms)'
  const middle = (of: readonly Sample[], pick: (sample: Sample) => readonly number[]) => median(of.map((sample) => median(pick(sample))))
  const totalOf = ({ shots }: Sample) => shots.map((shot) => stagesOf(shot)['created to completed'] ?? Number.NaN)
  table(
    tableOf(title, [...Map.groupBy(samples, ({ page }) => page)], {
      page: ([page]) => shortName(page),
      loop: ([, of]) => middle(of, ({ bare }) => bare),
      'loop, page.screenshot()': ([, of]) => middle(of, ({ library }) => library),
      product: ([, of]) => middle(of, ({ product }) => product),
      difference: ([, of]) => toDifference(median(of.map(({ product, bare }) => median(product) - median(bare)))),
      'product with POST': ([, of]) => middle(of, ({ withRequest }) => withRequest),
      'on the server': ([, of]) => middle(of, totalOf),
      pictures: ([, of]) => describePrints(of.flatMap(({ prints }) => prints)),
    }),
  )
}

/** `same` if all pictures show the same pixels. */
function describePrints(prints: readonly string[]): string {
  const { size } = new Set(prints)
  return size === 1 ? 'same' : `${size} different ones of ${prints.length}`
}

/** Milliseconds of each stage of a finished Screenshot, from the times in its object. Steps of the runner have a leading dot. */
function stagesOf({ metadata, status }: Screenshot): Record<string, number> {
  const { startTime = '', completionTime = '', result } = status ?? {}
  const created = createdAtOf(screenshotIdOf(metadata)).getTime()
  const inRunner = result?.processingMilliseconds ?? Number.NaN
  const steps = Object.entries(result?.timings ?? {}).map(([name, milliseconds]) => [`.${name}`, milliseconds] as const)
  return {
    'created to claimed': Date.parse(startTime) - created,
    'claimed to accepted': Date.parse(completionTime) - Date.parse(startTime) - inRunner,
    'in the runner': inRunner,
    ...Object.fromEntries(steps),
    'created to completed': Date.parse(completionTime) - created,
  }
}

function showStages({ table }: Report, samples: readonly Sample[]): void {
  const stages = samples.map(({ page, shots }) => ({ page, all: shots.map(stagesOf) }))
  const names = [...new Set(stages.flatMap(({ all }) => all.flatMap((one) => Object.keys(one))))]
  const middle = (page: string, name: string) =>
    median(stages.flatMap((of) => (of.page === page ? of.all.flatMap((one) => one[name] ?? []) : [])))
  const pages = [...new Set(samples.map(({ page }) => page))]
  table(
    tableOf('Duration of the product’s stages (medians, ms; a dot marks steps inside the runner)', names, {
      stage: (name) => name,
      ...Object.fromEntries(pages.map((page) => [shortName(page), (name: string) => middle(page, name)])),
    }),
  )
}

/** The path of the charge differs between cgroup v2 and v1. */
const SCRIPT = 'cat /proc/1/status; cd /sys/fs/cgroup; echo charged: $(cat memory.current memory/memory.usage_in_bytes 2>/dev/null)'

interface Pod {
  metadata: { name: string; labels?: Record<string, string> }
  status: { phase: string; containerStatuses?: { state: { running?: { startedAt: string } } }[] }
}

/** Reads the memory of operators and gateways from /proc and the cgroup of each container. */
export const memory = scenario({
  name: 'memory',
  shows: 'memory of operator and gateway, which is released slowly: run it ten minutes after the last capture',
  stage: clusterStage,
  run: async ({ table }) => {
    const { items } = await kubectlJson<{ items: Pod[] }>(['get', 'pods', '-l', 'app.kubernetes.io/component in (operator,api-gateway)'])
    const running = items.filter(({ status }) => status.phase === 'Running')
    const uses = await Promise.all(
      running.map(async ({ metadata: { name, labels }, status }) => {
        const { stdout } = await kubectl(['exec', name, '--', 'sh', '-c', SCRIPT])
        const read = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1] ?? Number.NaN)
        return {
          pod: name,
          component: labels?.['app.kubernetes.io/component'] ?? '',
          minutes: (Date.now() - Date.parse(status.containerStatuses?.[0]?.state.running?.startedAt ?? '')) / 60_000,
          resident: read(/^VmRSS:\s+(\d+) kB$/m) / 1_024,
          charged: read(/^charged: (\d+)$/m) / 2 ** 20,
        }
      }),
    )
    const sorted = uses.toSorted((one, other) => one.component.localeCompare(other.component))
    table(
      tableOf('Memory (MiB; targets after ten idle minutes: operator 130, api-gateway 140 resident)', sorted, {
        program: ({ component }) => component,
        pod: ({ pod }) => pod,
        'minutes up': ({ minutes }) => fixed(minutes, 0),
        resident: ({ resident }) => resident,
        charged: ({ charged }) => charged,
      }),
    )
  },
})
