import { openStudio, type Studio } from '../../integration/capture-runner/stage/studio.ts'
import { createProcessorClock } from '../harness/processes.ts'
import { scenario } from '../harness/scenario.ts'
import { median } from '../harness/statistics.ts'
import { fixed, tableOf } from '../harness/table.ts'
import { browserStage, openCorpus, serve } from './stage/engine.ts'

// Cost of the wait for visual stability on static pages: with and without it, alternately, on one runner with real browsers.

/** Captures of each page in each round. */
const CAPTURES = 7
const WAYS = { without: 0, withWait: 2_000 } as const
type Way = keyof typeof WAYS

interface Page {
  name: string
  url: string
  fullPage: boolean
  /** Milliseconds of the middle capture of each round. */
  wall: Record<Way, number[]>
  /** Milliseconds of processor time for each capture. */
  processor: Record<Way, number[]>
}

const TEXT = '<p>The harbor opens at six. Boats that come in before the tide turns pay half of the fee.</p>'.repeat(60)
/** A script that runs while the page loads, and again after the load event. */
const SCRIPT = '<script>document.title = "Harbor"; addEventListener("load", () => { document.body.dataset.loaded = "" })</script>'

/** Captures alternately, each page as a window and in full. */
export const stability = scenario({
  name: 'stability',
  shows: 'pages that stand still with and without the wait for visual stability, in turns',
  stage: browserStage,
  options: { rounds: 5 },
  run: async ({ ends, settings: { rounds }, ...report }) => {
    const [chapter = ''] = await openCorpus(ends)
    const scripted = await serve(ends, (_, response) =>
      response.setHeader('content-type', 'text/html; charset=utf-8').end(`<!doctype html><body>${TEXT}${SCRIPT}`),
    )
    const studio = await openStudio({ maxCaptures: Number.POSITIVE_INFINITY })
    ends.teardown(studio.close)
    const pages = [
      { name: 'book chapter, without scripts', url: chapter },
      { name: 'text with a script', url: `${scripted}/` },
    ].flatMap(({ name, url }) => [newPage(name, url, false), newPage(`${name}, full page`, url, true)])
    // The first captures fill caches, and do not count.
    for (const page of pages) for (const way of ways(0)) await captureSome(studio, { ...newPage('', page.url, page.fullPage) }, way)
    for (let round = 0; round < rounds; round++) {
      for (const page of pages) for (const way of ways(round)) await captureSome(studio, page, way)
      report.progress(`stability: round ${round + 1} of ${rounds}`)
    }
    const middle = (values: readonly number[], digits = 0): string => fixed(median(values.filter(Number.isFinite)), digits)
    const title =
      'Milliseconds of a capture without and with the wait for visual stability (medians of the rounds; ratios are medians of each round’s)'
    report.table(
      tableOf(title, pages, {
        page: ({ name }) => name,
        without: ({ wall }) => middle(wall.without),
        with: ({ wall }) => middle(wall.withWait),
        difference: ({ wall }) => middle(wall.withWait.map((value, round) => value - (wall.without[round] ?? Number.NaN))),
        'processor ms, without': ({ processor }) => middle(processor.without),
        'processor ms, with': ({ processor }) => middle(processor.withWait),
        'processor ratio': ({ processor: { without, withWait } }) =>
          middle(
            withWait.map((value, round) => value / (without[round] ?? Number.NaN)),
            2,
          ),
      }),
    )
  },
})

const newPage = (name: string, url: string, fullPage: boolean): Page => ({
  name,
  url,
  fullPage,
  wall: { without: [], withWait: [] },
  processor: { without: [], withWait: [] },
})

/** Each setting comes first in half of the rounds. */
const ways = (round: number): Way[] => (round % 2 === 0 ? ['without', 'withWait'] : ['withWait', 'without'])

async function captureSome(studio: Studio, { url, fullPage, wall, processor }: Page, way: Way): Promise<void> {
  const clock = createProcessorClock()
  const used = clock([process.pid])
  const times: number[] = []
  for (let capture = 0; capture < CAPTURES; capture++) {
    const started = performance.now()
    await studio.shoot(url, { fullPage, stabilityTimeout: WAYS[way] })
    times.push(performance.now() - started)
  }
  wall[way].push(median(times))
  processor[way].push(((clock([process.pid]) - used) * 1_000) / CAPTURES)
}
