import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openStudio, type Studio } from '../../integration/capture-runner/stage/studio.ts'
import { createProcessorClock } from '../engine/processor.ts'
import { openSite } from '../engine/site.ts'
import { median } from '../report/statistics.ts'
import type { Table } from '../report/table.ts'

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
export async function measureStability({ rounds }: { rounds: number }, progress: (line: string) => void): Promise<Table> {
  const book = await openSite()
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'text/html; charset=utf-8').end(`<!doctype html><body>${TEXT}${SCRIPT}`),
  )
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const scripted = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const studio = await openStudio({ maxCaptures: Number.POSITIVE_INFINITY })
  const pages = [
    { name: 'book chapter, without scripts', url: book.corpus[0] ?? '' },
    { name: 'text with a script', url: scripted },
  ].flatMap(({ name, url }) => [newPage(name, url, false), newPage(`${name}, full page`, url, true)])
  try {
    for (const page of pages) for (const way of ways(0)) await captureSome(studio, page, way)
    for (const { wall, processor } of pages) for (const way of ways(0)) wall[way].length = processor[way].length = 0
    for (let round = 0; round < rounds; round++) {
      for (const page of pages) for (const way of ways(round)) await captureSome(studio, page, way)
      progress(`stability: round ${round + 1} of ${rounds}`)
    }
    return toTable(pages)
  } finally {
    await studio.close()
    book.close()
    server.close().closeAllConnections()
  }
}

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

function toTable(pages: readonly Page[]): Table {
  const ratio = (of: Record<Way, number[]>): string =>
    median(of.withWait.map((value, round) => value / (of.without[round] ?? Number.NaN)).filter(Number.isFinite)).toFixed(2)
  const middle = (values: readonly number[]): string => median(values.filter(Number.isFinite)).toFixed(0)
  return {
    title:
      'Milliseconds of a capture without and with the wait for visual stability (medians of the rounds; ratios are medians of each round’s)',
    head: ['page', 'without', 'with', 'difference', 'processor ms, without', 'with', 'processor ratio'],
    rows: pages.map(({ name, wall, processor }) => [
      name,
      middle(wall.without),
      middle(wall.withWait),
      middle(wall.withWait.map((value, round) => value - (wall.without[round] ?? Number.NaN))),
      middle(processor.without),
      middle(processor.withWait),
      ratio(processor),
    ]),
  }
}
