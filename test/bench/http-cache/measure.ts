import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import { openStudio, type Studio } from '../../integration/capture-runner/stage/studio.ts'
import { openLines } from '../engine/lines.ts'
import { createProcessorClock } from '../engine/processor.ts'
import { fingerprint } from '../pictures.ts'
import { median } from '../report/statistics.ts'
import type { Table } from '../report/table.ts'
import { PAGES, pagePath, SUBRESOURCES } from './site.ts'
import type { SitePorts } from './site-program.ts'

// Captures one batch of pages of a site with and without `http_cache`, alternately, on one runner with real browsers.

const ROUND_TRIP_MILLISECONDS = 50
const MODES = ['off', 'batch'] as const
type Mode = (typeof MODES)[number]
/** Pause after a batch, so that its cleanup does not slow down the next one. */
const PAUSE_MILLISECONDS = 1_000
const WARM_PAGES = 10

/** Results of one link to the site over all rounds. */
interface Way {
  name: string
  originOf: (ports: SitePorts) => string
  rates: Record<Mode, number[]>
  processor: Record<Mode, number[]>
  /** Number of pictures that differ between both settings, and number of all pictures. */
  odd: number
  pictures: number
}

const newWay = (name: string, originOf: Way['originOf']): Way => ({
  name,
  originOf,
  rates: { off: [], batch: [] },
  processor: { off: [], batch: [] },
  odd: 0,
  pictures: 0,
})

/** Runs batches alternately, each with an empty cache. */
export async function measureHttpCache({ rounds }: { rounds: number }, progress: (line: string) => void): Promise<Table> {
  const env = { ...process.env, BENCH_ROUND_TRIP: String(ROUND_TRIP_MILLISECONDS) }
  const program = openLines<never, never>(process.execPath, [path.join(import.meta.dirname, 'site-program.ts')], env)
  const ports = (await program.hear()) as SitePorts
  const studio = await openStudio({
    // The processor time of a killed browser is lost.
    maxCaptures: Number.POSITIVE_INFINITY,
    extraArguments: [`--ignore-certificate-errors-spki-list=${ports.keyHash}`],
  })
  const ways = [
    newWay(`HTTP/1.1, ${ROUND_TRIP_MILLISECONDS} ms`, ({ plain }) => `http://127.0.0.1:${plain.far}`),
    newWay(`HTTP/2, ${ROUND_TRIP_MILLISECONDS} ms`, ({ secure }) => `https://127.0.0.1:${secure.far}`),
    newWay('HTTP/1.1, no delay', ({ plain }) => `http://127.0.0.1:${plain.near}`),
  ]
  const [all, ofSite] = [createProcessorClock(), createProcessorClock()]
  // Excludes the process of the site, which serves fewer requests if there is a cache.
  const processorSeconds = () => all([process.pid]) - ofSite([program.pid])
  try {
    for (const way of ways) for (const mode of MODES) await captureBatch(studio, way.originOf(ports), { httpCache: mode }, WARM_PAGES)
    for (let round = 0; round < rounds; round++) {
      for (const way of ways) {
        const prints: Partial<Record<Mode, string[]>> = {}
        for (const mode of round % 2 === 0 ? MODES : MODES.toReversed()) {
          await sleep(PAUSE_MILLISECONDS)
          const used = processorSeconds()
          const { milliseconds, pictures } = await captureBatch(studio, way.originOf(ports), { httpCache: mode }, PAGES)
          const processor = processorSeconds() - used
          way.rates[mode].push(PAGES / (milliseconds / 1_000))
          way.processor[mode].push((processor * 1_000) / PAGES)
          // Sequentially, because a decoded picture takes 8 MiB.
          const found: string[] = []
          for (const picture of pictures) found.push(await fingerprint(picture))
          prints[mode] = found
        }
        way.pictures += PAGES
        way.odd += prints.off?.filter((print, index) => print !== prints.batch?.[index]).length ?? PAGES
      }
      progress(`http-cache: round ${round + 1} of ${rounds}`)
    }
    return toTable(ways)
  } finally {
    await studio.close()
    await program.close()
  }
}

/** Captures pages as a runner does: the next capture starts while the previous picture is being encoded. */
async function captureBatch(studio: Studio, origin: string, options: CaptureOptions, count: number) {
  const batchId = randomUUID()
  const pictures: Promise<Buffer>[] = []
  const started = performance.now()
  for (let page = 0; page < count; page++) {
    const shutter = Promise.withResolvers<void>()
    const taken = studio.shoot(origin + pagePath(page), options, { batchId, onPageReady: shutter.resolve })
    pictures.push(taken.then(({ picture }) => picture))
    await Promise.race([shutter.promise, taken])
  }
  const all = await Promise.all(pictures)
  return { milliseconds: performance.now() - started, pictures: all }
}

function toTable(ways: readonly Way[]): Table {
  const ratio = ({ rates }: Way): number => median(rates.batch.map((rate, round) => rate / (rates.off[round] ?? Number.NaN)))
  return {
    title: `Captures per second of a batch of ${PAGES} pages that share ${SUBRESOURCES} immutable subresources (medians of the rounds; the ratio is the median of each round’s)`,
    head: ['link to the site', 'off', 'batch', 'ratio', 'processor ms, off', 'processor ms, batch', 'differing pictures'],
    rows: ways.map((way) => [
      way.name,
      median(way.rates.off).toFixed(2),
      median(way.rates.batch).toFixed(2),
      ratio(way).toFixed(2),
      median(way.processor.off.filter(Number.isFinite)).toFixed(0),
      median(way.processor.batch.filter(Number.isFinite)).toFixed(0),
      `${way.odd} of ${way.pictures}`,
    ]),
  }
}
