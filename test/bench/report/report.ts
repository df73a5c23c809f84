import type { BatchSample } from '../batches.ts'
import type { BurstSample } from '../burst.ts'
import type { MemoryUse } from '../memory.ts'
import { type Album, toVerdict } from '../pictures.ts'
import type { Sample } from '../sequential.ts'
import { medianStages } from '../stages.ts'
import { median, summarize } from './statistics.ts'
import { type Table, toCell, toDifference } from './table.ts'

// Formats results as tables. Pure.

/** `docs…/en-US/apt.html` for http://docs.sites.svc.cluster.local/en-US/apt.html. */
export function shortName(page: string): string {
  const { hostname, pathname } = new URL(page)
  return `${hostname.split('.')[0]}…${pathname}`
}

/** All rounds of each page, and the median of their medians. */
export function sequentialTable(title: string, samples: readonly Sample[]): Table {
  const head = [
    'page',
    'round',
    'loop p50',
    'loop p95',
    'product p50',
    'product p95',
    'difference p50',
    'difference p95',
    'repeated',
    'load',
  ]
  const row = ({ page, round, bare, product, repeated, load }: Sample): string[] => {
    const [loop, ours] = [summarize(bare), summarize(product)]
    const figures = [loop.p50, loop.p95, ours.p50, ours.p95].map(toCell)
    const differences = [ours.p50 - loop.p50, ours.p95 - loop.p95].map(toDifference)
    return [shortName(page), String(round), ...figures, ...differences, String(repeated), load.toFixed(1)]
  }
  const pages = [...new Set(samples.map(({ page }) => page))]
  return { title, head, rows: pages.flatMap((page) => samples.filter((sample) => sample.page === page).map(row)) }
}

/** For each page the median of the rounds' p50s: the value for the limit of 150 ms, and the other durations. */
export function medianTable(title: string, samples: readonly Sample[]): Table {
  const pages = [...new Set(samples.map(({ page }) => page))]
  const head = ['page', 'loop', 'loop, page.screenshot()', 'product', 'difference', 'product with POST', 'on the server', 'pictures']
  const rows = pages.map((page) => {
    const ours = samples.filter((sample) => sample.page === page)
    const middle = (pick: (sample: Sample) => readonly number[]) => median(ours.map((sample) => median(pick(sample))))
    const differences = ours.map(({ product, bare }) => median(product) - median(bare))
    const onServer = ours.map(({ shots }) => new Map(medianStages(shots)).get('created to completed') ?? Number.NaN)
    return [
      shortName(page),
      toCell(middle(({ bare }) => bare)),
      toCell(middle(({ library }) => library)),
      toCell(middle(({ product }) => product)),
      toDifference(median(differences)),
      toCell(middle(({ withRequest }) => withRequest)),
      toCell(median(onServer)),
      toVerdict([joined(ours.map(({ album }) => album))]),
    ]
  })
  return { title, head, rows }
}

/** Durations of the product's stages. */
export function stageTable(samples: readonly Sample[]): Table {
  const pages = [...new Set(samples.map(({ page }) => page))]
  const byPage = pages.map((page) => new Map(medianStages(samples.filter((sample) => sample.page === page).flatMap(({ shots }) => shots))))
  const names = [...new Set(byPage.flatMap((stages) => [...stages.keys()]))]
  return {
    title: 'Duration of the product’s stages (medians, ms; a dot marks steps inside the runner)',
    head: ['stage', ...pages.map(shortName)],
    rows: names.map((name) => [name, ...byPage.map((stages) => toCell(stages.get(name) ?? Number.NaN))]),
  }
}

/** One request with `Accept: image/*`, from its first byte to the last byte of the picture. */
export function oneRequestTable(byPage: ReadonlyMap<string, readonly number[]>): Table {
  return {
    title: 'A picture in one request: from POST to the last byte of the file (ms)',
    head: ['page', 'p50', 'p95'],
    rows: [...byPage].map(([page, milliseconds]) => {
      const { p50, p95 } = summarize(milliseconds)
      return [shortName(page), toCell(p50), toCell(p95)]
    }),
  }
}

/** The rounds of the burst, and their medians. */
export function burstTable(samples: readonly BurstSample[], browsers: number): Table {
  const rate = (screenshots: number, milliseconds: number) => (screenshots / (milliseconds / 1_000)).toFixed(1)
  const row = ({ round, screenshots, bareMilliseconds, productMilliseconds }: Omit<BurstSample, 'prints'>) => [
    String(round),
    rate(screenshots, bareMilliseconds),
    rate(screenshots, productMilliseconds),
    `${Math.round((bareMilliseconds / productMilliseconds) * 100)} %`,
  ]
  const middle = {
    round: 0,
    screenshots: samples[0]?.screenshots ?? 0,
    bareMilliseconds: median(samples.map(({ bareMilliseconds }) => bareMilliseconds)),
    productMilliseconds: median(samples.map(({ productMilliseconds }) => productMilliseconds)),
  }
  return {
    title: `${middle.screenshots} concurrent screenshots, ${browsers} browsers on both sides (screenshots per second)`,
    head: ['round', 'loop', 'product', 'product to loop', 'pictures'],
    rows: [...samples.map(row), ['median', ...row(middle).slice(1), toVerdict(albumsOf(samples))]],
  }
}

/** Two batches of one hundred, by one account and by many: each round and the medians. Ratios compare values of one round. */
export function batchTables(samples: readonly BatchSample[], runners: number): Table[] {
  const best = ({ bare }: BatchSample) => Math.max(...bare)
  const row = (name: string, of: readonly BatchSample[]): string[] => {
    const middle = (pick: (sample: BatchSample) => number) => median(of.map(pick)).toFixed(2)
    return [
      name,
      ...[0, 1, 2].map((index) => middle(({ bare }) => bare[index] ?? Number.NaN)),
      middle(({ single }) => single),
      middle((sample) => sample.single / best(sample)),
      middle(({ accounts }) => accounts),
      middle((sample) => sample.accounts / sample.single),
      median(of.map(({ load }) => load)).toFixed(1),
    ]
  }
  const sum = (pick: (sample: BatchSample) => number) => samples.reduce((total, sample) => total + pick(sample), 0)
  return [
    {
      title: `200 pages of the corpus by REST, ${runners} runners (screenshots per second; targets: 0.75 of the loop’s best, many accounts 0.8 of one; differing pictures: ${sum(({ odd }) => odd)} of ${sum(({ pictures }) => pictures)})`,
      head: ['round', 'loop, 1 browser', '2', '4', 'two batches of 100', 'to the best', '20 accounts', 'to one account', 'load'],
      rows: [...samples.map((sample) => row(String(sample.round), [sample])), row('median', samples)],
    },
  ]
}

/** Memory of the programs, with their limits. */
export function memoryTable(uses: readonly MemoryUse[]): Table {
  return {
    title: 'Memory (MiB; targets after ten idle minutes: operator 130, api-gateway 140 resident)',
    head: ['program', 'pod', 'minutes up', 'resident', 'charged'],
    rows: uses
      .toSorted((a, b) => (a.component < b.component ? -1 : 1))
      .map(({ component, pod, minutes, residentMebibytes, chargedMebibytes }) => [
        component,
        pod,
        minutes.toFixed(0),
        residentMebibytes.toFixed(0),
        chargedMebibytes.toFixed(0),
      ]),
  }
}

const joined = (albums: readonly Album[]): Album => ({
  loop: albums.flatMap(({ loop }) => loop),
  product: albums.flatMap(({ product }) => product),
})

/** Comparison of the pictures of all rounds, by page. */
function albumsOf(samples: readonly BurstSample[]): Album[] {
  const pages = [...new Set(samples.flatMap(({ prints }) => Object.keys(prints)))]
  return pages.map((page) => {
    const ofPage = samples.flatMap(({ prints }) => prints[page] ?? [])
    return { loop: ofPage.map(({ loop }) => loop), product: ofPage.map(({ product }) => product) }
  })
}
