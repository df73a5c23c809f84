import { setTimeout as sleep } from 'node:timers/promises'
import { type LocalRelease, withLocalRelease } from '../../soak/stage/local-release.ts'
import { buildImages, checkOut } from '../../soak/stage/old-release.ts'
import { readRunning, tagSettings } from '../../soak/stage/running-release.ts'
import { cluster } from '../../support/cluster/environment.ts'
import { NAMESPACE } from '../../support/cluster/tested-release.ts'
import { Api } from '../api.ts'
import { type BarePod, openBarePod, readPool } from '../bare-pod.ts'
import { CLUSTER_CORPUS } from '../engine/corpus.ts'
import { undoing } from '../report/undo.ts'
import { VIEWPORT } from '../sequential.ts'
import { type Growth, growthOf, priceOf, type Sample } from './growth.ts'
import { type Pod, type Side, sampleSides } from './programs.ts'
import { withRunners } from './runners.ts'

// The processor time of one picture, by program. The bare loop, the running release and the release of a commit take turns, so that other work on the
// machine affects all of them.

/** A side that takes pictures. */
interface Contender {
  side: Side
  /** Takes one picture of each page, a number of them at a time. */
  take: (pages: readonly string[], lanes: number) => Promise<void>
}

/** Prices of one contender with a number of pictures at a time: one for each round. */
export interface Prices {
  name: string
  lanes: number
  rounds: Growth[]
}

export interface PriceSettings {
  rounds: number
  /** Pictures of each contender in each round. */
  captures: number
  /** A commit that is installed beside the running release; absent: only the running release is measured. */
  from?: string | undefined
}

export const LANES = [1, 2, 4]
/** More than the runners of a release, because each of them starts with empty caches. */
const WARM_PAGES = 20
const IDLE_MILLISECONDS = 10_000
/** Renderers end and blank tabs open after the picture. That is a part of its price. */
const REST_MILLISECONDS = 1_500
const OTHER_NAMESPACE = 'tintype-before'
const OTHER_TAG = 'price-before'

/** Measures all contenders. The releases keep four idle runners. */
export async function measurePrice(settings: PriceSettings, progress: (line: string) => void): Promise<Prices[]> {
  const measure = async (others: readonly Contender[]): Promise<Prices[]> => {
    const bare = await openBarePod(await readPool())
    return undoing(bare.close, () => inRounds([loopOf(bare), ...others, releaseOf('now', NAMESPACE, cluster)], settings, progress))
  }
  const runners = Math.max(...LANES)
  return withRunners(NAMESPACE, runners, () =>
    settings.from === undefined
      ? measure([])
      : withCommit(settings.from, progress, (release) =>
          withRunners(OTHER_NAMESPACE, runners, () => measure([releaseOf(settings.from ?? '', OTHER_NAMESPACE, release)])),
        ),
  )
}

/** Calls `act` with a release of a commit. Its images have the layers below the programs of today's images. */
async function withCommit<T>(from: string, progress: (line: string) => void, act: (release: LocalRelease) => Promise<T>): Promise<T> {
  progress(`price: building the images of ${from}`)
  const { tags } = await readRunning()
  const sources = await checkOut(from)
  await buildImages(sources, OTHER_TAG, tags)
  const options = [...tagSettings((image) => (image === 'minio' ? (tags[image] ?? '') : OTHER_TAG)), '--skip-crds']
  progress(`price: installing ${from}`)
  const installation = { namespace: OTHER_NAMESPACE, chart: sources.chart, options: [...options, '--set', 'crdUpgrade.enabled=false'] }
  return withLocalRelease(installation, act)
}

function releaseOf(name: string, namespace: string, { url, apiKey }: { url: string; apiKey: string }): Contender {
  const apis = LANES.slice(-1).flatMap((most) => Array.from({ length: most }, () => new Api({ key: apiKey, url })))
  const isPod = (pod: Pod) => pod.namespace === namespace && pod.component !== ''
  return {
    side: { name, isPod, hasControlPlane: true },
    take: (pages, lanes) => inLanes(pages, apis.slice(0, lanes), async (page, api) => void (await api.picture(page))),
  }
}

const loopOf = (bare: BarePod): Contender => ({
  side: { name: 'bare loop', isPod: (pod) => pod.name === bare.name, hasControlPlane: false },
  take: async (pages, browsers) => void (await bare.run({ pages, count: 1, browsers, way: 'raw', viewport: VIEWPORT, pictures: false })),
})

async function inLanes<T>(pages: readonly string[], workers: readonly T[], act: (page: string, worker: T) => Promise<void>): Promise<void> {
  const todo = [...pages]
  const work = async (worker: T): Promise<void> => {
    for (let page = todo.shift(); page !== undefined; page = todo.shift()) await act(page, worker)
  }
  await Promise.all(workers.map(work))
}

async function inRounds(contenders: readonly Contender[], { rounds, captures }: PriceSettings, progress: (line: string) => void) {
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
