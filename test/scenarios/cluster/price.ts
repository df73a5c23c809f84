import { setTimeout as sleep } from 'node:timers/promises'
import { cluster } from '../../support/cluster/environment.ts'
import { NAMESPACE } from '../../support/cluster/tested-release.ts'
import { CLUSTER_CORPUS } from '../engine/stage/corpus.ts'
import { type Context, type Report, scenario } from '../harness/scenario.ts'
import { median } from '../harness/statistics.ts'
import { installLocal, type LocalRelease } from '../releases/stage/local-release.ts'
import { buildImages, checkOut } from '../releases/stage/old-release.ts'
import { readRunning, tagSettings } from '../releases/stage/running-release.ts'
import { clusterStage } from './stage/cluster-objects.ts'
import { type Growth, growthOf, type Pod, PROGRAMS, priceOf, type Sample, type Side, sampleSides } from './stage/programs.ts'
import { Api, type BarePod, openBarePod, setPoolSize } from './stage/running-system.ts'

// The processor time of one picture, by program. The bare loop, the running release and the release of a commit take turns, so that other work on the
// machine affects all of them.

/** A side that takes pictures. */
interface Contender {
  side: Side
  /** Takes one picture of each page, a number of them at a time. */
  take: (pages: readonly string[], lanes: number) => Promise<void>
}

/** Prices of one contender with a number of pictures at a time: one for each round. */
interface Prices {
  name: string
  lanes: number
  rounds: Growth[]
}

const LANES = [1, 2, 4]
/** More than the runners of a release, because each of them starts with empty caches. */
const WARM_PAGES = 20
const IDLE_MILLISECONDS = 10_000
/** Renderers end and blank tabs open after the picture. That is a part of its price. */
const REST_MILLISECONDS = 1_500
const OTHER_NAMESPACE = 'tintype-before'
const OTHER_TAG = 'price-before'

/** Until the runners have warm browsers. */
const SETTLE_MILLISECONDS = 2_000

const options = { rounds: 5, captures: 10, from: undefined }
type Run = Context<undefined, typeof options>

/** Measures all contenders. The releases keep four idle runners. */
export const price = scenario({
  name: 'price',
  shows: 'processor time of one picture by program, with one, two and four at a time, and that of the bare loop in turns',
  stage: clusterStage,
  options,
  run: async (context) => {
    const { settings, ends } = context
    const most = Math.max(...LANES)
    const size = { minIdle: most, maxPods: most }
    await setPoolSize(ends, size)
    const others: Contender[] = []
    if (settings.from !== undefined) {
      const release = await installCommit(context, settings.from)
      await setPoolSize(ends, size, OTHER_NAMESPACE)
      others.push(releaseOf(settings.from, OTHER_NAMESPACE, release))
    }
    await sleep(SETTLE_MILLISECONDS)
    const bare = await openBarePod(ends)
    const prices = await measureInRounds(context, [loopOf(bare), ...others, releaseOf('now', NAMESPACE, cluster)])
    for (const [lanes, of] of Map.groupBy(prices, (one) => one.lanes)) showPrices(context, lanes, of)
  },
})

/** Installs the release of a commit. Its images have the layers below the programs of today's images. */
async function installCommit({ ends, progress }: Run, from: string): Promise<LocalRelease> {
  progress(`price: building the images of ${from}`)
  const { tags } = await readRunning()
  const sources = await checkOut(from)
  await buildImages(sources, OTHER_TAG, tags)
  progress(`price: installing ${from}`)
  const flags = [...tagSettings(tags, OTHER_TAG), '--skip-crds', '--set', 'crdUpgrade.enabled=false']
  return installLocal(ends, { namespace: OTHER_NAMESPACE, chart: sources.chart, options: flags })
}

function releaseOf(name: string, namespace: string, { url, apiKey }: { url: string; apiKey: string }): Contender {
  const apis = LANES.slice(-1).flatMap((most) => Array.from({ length: most }, () => new Api({ key: apiKey, url })))
  const isPod = (pod: Pod) => pod.namespace === namespace && pod.component !== ''
  return {
    side: { name, isPod, hasControlPlane: true },
    take: (pages, lanes) => inLanes(pages, apis.slice(0, lanes), (page, api) => api.picture(page)),
  }
}

const loopOf = (bare: BarePod): Contender => ({
  side: { name: 'bare loop', isPod: (pod) => pod.name === bare.name, hasControlPlane: false },
  take: async (pages, browsers) => void (await bare.run({ pages, count: 1, browsers, way: 'raw', pictures: false })),
})

async function inLanes<T>(pages: readonly string[], workers: readonly T[], act: (page: string, worker: T) => Promise<void>): Promise<void> {
  const todo = [...pages]
  const work = async (worker: T): Promise<void> => {
    for (let page = todo.shift(); page !== undefined; page = todo.shift()) await act(page, worker)
  }
  await Promise.all(workers.map(work))
}

async function measureInRounds({ settings: { rounds, captures }, progress }: Run, contenders: readonly Contender[]): Promise<Prices[]> {
  const turns = LANES.flatMap((lanes) => contenders.map((contender) => ({ contender, lanes })))
  const prices = turns.map(({ contender, lanes }): Prices => ({ name: contender.side.name, lanes, rounds: [] }))
  for (const { contender, lanes } of turns) await contender.take(CLUSTER_CORPUS.slice(-WARM_PAGES * lanes), lanes)
  for (let round = 0; round < rounds; round++) {
    const pages = Array.from({ length: captures }, (_, n) => CLUSTER_CORPUS[(round * captures + n) % CLUSTER_CORPUS.length] ?? '')
    const sides = contenders.map(({ side }) => side)
    const resting = await measureGrowth(sides, () => sleep(IDLE_MILLISECONDS))
    for (let step = 0; step < turns.length; step++) {
      const index = (step + round) % turns.length
      const { contender, lanes } = turns[index] as (typeof turns)[number]
      const { growth, seconds } = await measureGrowth([contender.side], async () => {
        await contender.take(pages, lanes)
        await sleep(REST_MILLISECONDS)
      })
      const idle = perSecond(resting.growth.get(contender.side) ?? {}, resting.seconds)
      prices[index]?.rounds.push(priceOf(growth.get(contender.side) ?? {}, { seconds, pictures: pages.length, idle }))
    }
    progress(`price: round ${round + 1} of ${rounds}`)
  }
  return prices
}

async function measureGrowth(sides: readonly Side[], act: () => Promise<unknown>) {
  const before = await sampleSides(sides)
  const started = performance.now()
  await act()
  const seconds = (performance.now() - started) / 1_000
  const after = await sampleSides(sides)
  const empty: Sample = new Map()
  return { seconds, growth: new Map(sides.map((side) => [side, growthOf(before.get(side) ?? empty, after.get(side) ?? empty)])) }
}

const perSecond = (growth: Growth, seconds: number): Growth =>
  Object.fromEntries(Object.entries(growth).map(([program, used]) => [program, used / seconds]))

/** Milliseconds of one picture by program. Ratios are medians of each round's. */
function showPrices({ table }: Report, lanes: number, prices: readonly Prices[]): void {
  const row = (name: string, of: (price: Growth) => number) => [name, ...prices.map(({ rounds }) => median(rounds.map(of)).toFixed(0))]
  const has = (program: string) => (of: Prices) => of.rounds.some((one) => one[program] !== undefined)
  const releases = prices.filter(has('api-gateway'))
  const ratios = (of: readonly Prices[], to: Prices | undefined) =>
    prices.map((one) => (to && of.includes(one) ? ratioOf(one, to).toFixed(2) : ''))
  const loop = prices.find((one) => !releases.includes(one))
  table({
    title: `Processor milliseconds of one picture above idle, ${lanes} at a time (medians of the rounds)`,
    head: ['program', ...prices.map(({ name }) => name)],
    rows: [
      ...PROGRAMS.filter((program) => prices.some(has(program))).map((program) => row(program, (one) => one[program] ?? 0)),
      row('all', totalOf),
      ['all, compared with the bare loop', ...ratios(prices, loop)],
      ...(releases.length > 1 ? [[`all, compared with ${releases[0]?.name}`, ...ratios(releases, releases[0])]] : []),
    ],
  })
}

const totalOf = (one: Growth): number => Object.values(one).reduce((sum, used) => sum + used, 0)

const ratioOf = (prices: Prices, to: Prices): number =>
  median(prices.rounds.map((one, round) => totalOf(one) / totalOf(to.rounds[round] ?? {})))
