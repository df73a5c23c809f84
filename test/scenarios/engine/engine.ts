import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { readLoad } from '../harness/machine.ts'
import { fingerprint } from '../harness/pictures.ts'
import { memoryOfRunner } from '../harness/processes.ts'
import { type Context, type Report, scenario } from '../harness/scenario.ts'
import { median } from '../harness/statistics.ts'
import { tableOf } from '../harness/table.ts'
import { type Contender, openBare, openPuppeteerCluster, openShotScraper, type Run } from './stage/contenders.ts'
import { CHROMIUM, type Engine, engineStage } from './stage/engine.ts'
import { openFleet, openRunner } from './stage/runners.ts'

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

/** Warm-up pages per concurrent capture, because programs are slow after their start. */
const WARM_PAGES = 20
const REST_MILLISECONDS = 10_000
/** Pause, so that the cleanup of one contender does not slow down the next one. */
const PAUSE_MILLISECONDS = 1_000

const options = { rounds: 5, captures: 10 }

export const engine = scenario({
  name: 'engine',
  shows: 'speed of a runner beside the bare loop, page.screenshot(), puppeteer-cluster and shot-scraper, which it installs',
  stage: engineStage,
  options,
  run: measureEngine,
})

/** All contenders capture the same pages in each round. Their order rotates. Then the pictures of each round are compared. */
async function measureEngine({ stage, settings: { rounds, captures }, ends, ...report }: Context<Engine, typeof options>): Promise<void> {
  const { corpus, store } = stage
  const bare = openBare(CHROMIUM)
  const fleet = openFleet(store)
  const contenders: Contender[] = [bare.raw, fleet, bare.library, await openPuppeteerCluster(CHROMIUM), await openShotScraper(CHROMIUM)]
  for (const { close } of contenders) ends.teardown(close)
  const turns = contenders.flatMap((contender) => contender.lanes.map((lanes) => ({ contender, lanes })))
  const lanes = turns.map(
    ({ contender, lanes: count }): Lane => ({ name: contender.name, lanes: count, rates: [], processor: [], odd: 0, pictures: 0 }),
  )
  for (const { contender, lanes: count } of turns) await contender.run(corpus.slice(-WARM_PAGES * count), count)
  // Runners start a standby browser while they capture.
  await sleep(REST_MILLISECONDS)
  fleet.answers.length = 0
  const load: number[] = []
  for (let round = 0; round < rounds; round++) {
    const pages = pick(corpus, round * captures, captures)
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
    load.push(readLoad())
    report.progress(`engine: round ${round + 1} of ${rounds}`)
  }
  report.table(
    tableOf(`Captures per second on the corpus (medians of the rounds; load of the machine: ${median(load).toFixed(1)})`, lanes, {
      contender: ({ name }) => name,
      'at once': (lane) => lane.lanes,
      'per second': ({ rates }) => median(rates).toFixed(2),
      least: ({ rates }) => Math.min(...rates).toFixed(2),
      most: ({ rates }) => Math.max(...rates).toFixed(2),
      'processor ms per capture': ({ processor }) => median(processor.filter(Number.isFinite)),
      'differing pictures': ({ odd, pictures }) => `${odd} of ${pictures}`,
    }),
  )
  checkRatios(report, lanes)
  const steps = [...new Set(fleet.answers.flatMap(({ timings }) => Object.keys(timings)))]
  const title = 'Duration of a runner’s steps (medians over all captures, ms)'
  report.table(
    tableOf(title, [...steps, 'all'], {
      step: (step) => step,
      p50: (step) => median(fleet.answers.map(({ timings, milliseconds }) => (step === 'all' ? milliseconds : (timings[step] ?? 0)))),
    }),
  )
}

/** A number of pages from an offset. After the last page it continues with the first. */
const pick = (pages: readonly string[], from: number, count: number): string[] =>
  Array.from({ length: Math.min(count, pages.length) }, (_, index) => pages[(from + index) % pages.length] ?? '')

async function printsOf({ pictures }: Run): Promise<Map<string, string>> {
  const prints = new Map<string, string>()
  for (const [page, file] of pictures) prints.set(page, await fingerprint(file))
  return prints
}

/** Limits for the runner, with guard, blank check and upload. Ratios compare the best values of the same round; the median of the ratios counts. */
function checkRatios({ atLeast, progress }: Report, lanes: readonly Lane[]): void {
  const best = (name: string, counts: readonly number[], round: number) =>
    Math.max(...lanes.flatMap((lane) => (lane.name === name && counts.includes(lane.lanes) ? [lane.rates[round] ?? Number.NaN] : [])))
  for (const [claim, other, counts, bar] of [
    ['one at a time, to raw DevTools', 'bare loop', [1], 1.1],
    ['best of 1, 2, 4, to the best of 1, 2, 4 of raw DevTools', 'bare loop', [1, 2, 4], 0.95],
    ['one at a time, to page.screenshot()', 'bare loop, page.screenshot()', [1], 1.3],
  ] as const) {
    const ratios = (lanes[0]?.rates ?? []).map((_, round) => best('runner', counts, round) / best(other, counts, round))
    progress(`${claim}: ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}`)
    atLeast(`captures per second of a runner, ${claim}`, median(ratios), bar, '', 2)
  }
}

/** Captures between measurements of memory, which is read several times, because closing tabs takes a moment. */
const STEP = 50
const LOOKS = 5
const LOOK_MILLISECONDS = 300
/** The last third may use this much more than the second. */
const FLAT = 1.1

const RUNS = [
  { title: 'one browser, never replaced', captures: 300, maxCaptures: 1_000_000 },
  { title: 'as shipped', captures: 1_000 },
] as const

/** Captures the corpus repeatedly, with a new runner for each run. */
export const growth = scenario({
  name: 'growth',
  shows: 'memory of a runner over 1,300 captures, which takes minutes',
  stage: engineStage,
  run: async ({ stage: { corpus, store }, ...report }) => {
    for (const { title, captures, ...settings } of RUNS) {
      const runner = await openRunner(store, settings)
      const points: { captures: number; runner: number; all: number }[] = []
      for (let done = 0; done <= captures; done++) {
        if (done % STEP === 0 && done > 0) points.push({ captures: done, ...(await look(runner.pid)) })
        if (done % STEP === 0) report.progress(`growth: ${title}, ${done} of ${captures}`)
        await runner.capture(corpus[done % corpus.length] ?? '', randomUUID())
      }
      await runner.close()
      report.table(
        tableOf(`Memory over captures of the corpus, ${title}`, points, {
          captures: (point) => point.captures,
          runner: (point) => point.runner,
          'with both browsers': ({ all }) => all,
        }),
      )
      const third = Math.ceil(points.length / 3)
      const meanOf = (part: typeof points) => median(part.map(({ all }) => all))
      const [second, last] = [meanOf(points.slice(third, 2 * third)), meanOf(points.slice(2 * third))]
      report.atMost(`MiB in the last third relative to the second (${second.toFixed(0)} MiB), ${title}`, last / second, FLAT, '', 2)
    }
  },
})

async function look(pid: number): Promise<{ runner: number; all: number }> {
  const seen: { runner: number; all: number }[] = []
  for (let n = 0; n < LOOKS; n++) {
    await sleep(LOOK_MILLISECONDS)
    seen.push(memoryOfRunner(pid))
  }
  return { runner: median(seen.map(({ runner }) => runner)), all: median(seen.map(({ all }) => all)) }
}
