import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fingerprint } from '../pictures.ts'
import { openBare } from './bare.ts'
import type { Contender, Run } from './contender.ts'
import { openPuppeteerCluster, openShotScraper } from './foreign.ts'
import type { RunnerMessage } from './runner-program.ts'
import { openFleet } from './runners.ts'
import { openSite } from './site.ts'
import { openStore } from './store.ts'

/** One contender with a number of concurrent pages, over all rounds. */
export interface Lane {
  name: string
  lanes: number
  /** Captures per second, by round. */
  rates: number[]
  /** Milliseconds of processor time per capture, by round. */
  processor: number[]
  /** Number of pictures that differ from the reference, and number of all pictures. */
  odd: number
  pictures: number
}

/** Results of the engine benchmark. */
export interface EngineFigures {
  lanes: readonly Lane[]
  answers: readonly RunnerMessage[]
  /** Load average, by round. */
  load: readonly number[]
}

/** The browser of the machine, which all contenders use. */
export const CHROMIUM = process.env.TINTYPE_CHROMIUM ?? '/usr/lib/chromium/chromium-headless-shell'

/** Warm-up pages per concurrent capture, because programs are slow after their start. */
const WARM_PAGES = 20
const REST_MILLISECONDS = 10_000
/** Pause, so that the cleanup of one contender does not slow down the next one. */
const PAUSE_MILLISECONDS = 1_000

/** Settings of the rounds. */
export interface EngineSettings {
  rounds: number
  /** Pages of each contender in each round. */
  captures: number
}

/** All contenders capture the same pages in each round. Their order rotates. Then the pictures of each round are compared. */
export async function measureEngine({ rounds, captures }: EngineSettings, progress: (line: string) => void): Promise<EngineFigures> {
  const site = await openSite()
  const store = await openStore()
  const bare = openBare(CHROMIUM)
  // Chromium's sandbox does not start as root, so both sides run without it.
  const fleet = openFleet({ executablePath: CHROMIUM, chromiumSandbox: process.getuid?.() !== 0 }, store)
  const contenders: Contender[] = [bare.raw, fleet, bare.library, await openPuppeteerCluster(CHROMIUM), await openShotScraper(CHROMIUM)]
  try {
    const turns = contenders.flatMap((contender) => contender.lanes.map((lanes) => ({ contender, lanes })))
    const lanes: Lane[] = turns.map(({ contender, lanes: count }) => ({
      name: contender.name,
      lanes: count,
      rates: [],
      processor: [],
      odd: 0,
      pictures: 0,
    }))
    for (const { contender, lanes: count } of turns) await contender.run(site.corpus.slice(-WARM_PAGES * count), count)
    // Runners start a standby browser while they capture.
    await sleep(REST_MILLISECONDS)
    fleet.answers.length = 0
    const load: number[] = []
    for (let round = 0; round < rounds; round++) {
      const pages = pick(site.corpus, round * captures, captures)
      const reference = await printsOf(await bare.reference.run(pages, 1))
      for (let step = 0; step < turns.length; step++) {
        const index = (step + round) % turns.length
        const { contender, lanes: count } = turns[index] as (typeof turns)[number]
        const used = contender.processorSeconds()
        const run = await contender.run(pages, count)
        const processor = (contender.processorSeconds() - used) * 1_000
        const prints = await printsOf(run)
        await sleep(PAUSE_MILLISECONDS)
        const lane = lanes[index] as Lane
        lane.rates.push(pages.length / (run.milliseconds / 1_000))
        lane.processor.push(processor / pages.length)
        lane.pictures += pages.length
        lane.odd += pages.filter((page) => prints.get(page) !== reference.get(page)).length
      }
      load.push(loadavg()[0] ?? 0)
      progress(`engine: round ${round + 1} of ${rounds}`)
    }
    return { lanes, answers: fleet.answers, load }
  } finally {
    for (const contender of contenders) await contender.close()
    await store.close()
    site.close()
  }
}

/** A number of pages from an offset. After the last page it continues with the first. */
const pick = (pages: readonly string[], from: number, count: number): string[] =>
  Array.from({ length: Math.min(count, pages.length) }, (_, index) => pages[(from + index) % pages.length] ?? '')

async function printsOf({ pictures }: Run): Promise<Map<string, string>> {
  const prints = new Map<string, string>()
  for (const [page, file] of pictures) prints.set(page, await fingerprint(file))
  return prints
}
