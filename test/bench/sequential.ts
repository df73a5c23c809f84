import { loadavg } from 'node:os'
import { viewportDefaults } from '@tintype/crds/capture-options/viewport'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Api } from './api.ts'
import type { BarePod } from './bare-pod.ts'
import { type Comparison, compare } from './pictures.ts'
import { waitUntilIdle } from './pool.ts'
import { captureInTurns, readObjects, removeAll } from './product.ts'
import type { Settings } from './settings.ts'

/** One page in one round: milliseconds of each capture. */
export interface Sample {
  round: number
  page: string
  bare: number[]
  /** The loop with page.screenshot(). */
  library: number[]
  product: number[]
  withRequest: number[]
  shots: Screenshot[]
  comparison: Comparison
  /** Screenshots that the loop had to take again. */
  repeated: number
  /** Processes that wanted the processor, over the last minute. */
  load: number
}

export const VIEWPORT = { width: viewportDefaults.viewportWidth, height: viewportDefaults.viewportHeight }

interface SequentialParts {
  settings: Settings
  bare: BarePod
  /** One for each account; they take turns. */
  apis: readonly Api[]
  tell: (line: string) => void
}

/** The loop and the product in turns, page by page, round by round; who begins changes with each round. */
export async function measureSequential({ settings, bare, apis, tell }: SequentialParts): Promise<Sample[]> {
  const { pages, captures, rounds, pauseMilliseconds } = settings
  const samples: Sample[] = []
  const loop = (page: string, way: 'raw' | 'library', count = captures) =>
    bare.run({ pages: [page], count, browsers: 1, way, viewport: VIEWPORT, pictures: true })
  // The first captures fill caches on both sides; they are not counted.
  for (const page of pages) {
    await loop(page, 'raw', 2)
    await waitUntilIdle()
    const { ids } = await captureInTurns(page, { apis, count: 2, pauseMilliseconds })
    await removeAll(ids, apis[0] as Api)
  }
  for (let round = 1; round <= rounds; round++) {
    for (const page of pages) {
      await waitUntilIdle()
      const viaProduct = () => captureInTurns(page, { apis, count: Math.ceil(captures / apis.length), pauseMilliseconds })
      const early = round % 2 === 0 ? await viaProduct() : undefined
      const raw = await loop(page, 'raw')
      const library = await loop(page, 'library')
      const run = early ?? (await viaProduct())
      const comparison = await compare(run.picture, Buffer.from(raw.pictures[page] ?? '', 'base64'))
      const shots = await readObjects(run.ids)
      const sample = {
        round,
        page,
        bare: raw.milliseconds[page] ?? [],
        library: library.milliseconds[page] ?? [],
        product: run.milliseconds,
        withRequest: run.withRequest,
        shots,
        comparison,
        repeated: raw.repeated,
        load: loadavg()[0] ?? 0,
      }
      samples.push(sample)
      tell(`round ${round}: ${page}`)
      for (const [place, api] of apis.entries())
        await removeAll(
          run.ids.filter((_, n) => n % apis.length === place),
          api,
        )
    }
  }
  return samples
}
