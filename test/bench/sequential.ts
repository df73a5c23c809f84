import { loadavg } from 'node:os'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { viewportDefaults } from '@tintype/crds/options/page/viewport'
import type { Api } from './api.ts'
import type { LoopOrder } from './bare-loop.ts'
import type { BarePod } from './bare-pod.ts'
import { fingerprint } from './pictures.ts'
import { waitUntilIdle } from './pool.ts'
import { captureOnce, type ProductCapture, readObjects } from './product.ts'
import type { Settings } from './settings.ts'

/** One page in one round: milliseconds of each capture in order. */
export interface Sample {
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
  /** Fingerprints of the pictures. */
  album: { loop: string[]; product: string[] }
  /** Screenshots that the loop had to repeat. */
  repeated: number
  /** Load average over the last minute. */
  load: number
}

export const VIEWPORT = { width: viewportDefaults.viewportWidth, height: viewportDefaults.viewportHeight }

interface SequentialParts {
  settings: Settings
  bare: BarePod
  /** One client per account. They take turns. */
  apis: readonly Api[]
  progress: (line: string) => void
}

/** Loop and product alternate at each capture, so that other load on the machine affects both. */
export async function measureSequential({ settings, bare, apis, progress }: SequentialParts): Promise<Sample[]> {
  const samples: Sample[] = []
  // Round 0 fills the caches of both sides and is not counted.
  for (let round = 0; round <= settings.rounds; round++) {
    for (const page of settings.pages) {
      await waitUntilIdle()
      const captures = round === 0 ? 2 * apis.length : settings.captures
      const sample = await measurePage({ round, page, captures, pauseMilliseconds: settings.pauseMilliseconds }, bare, apis)
      if (round > 0) samples.push(sample)
      progress(`round ${round}: ${page}`)
    }
  }
  return samples
}

interface Turn {
  round: number
  page: string
  captures: number
  pauseMilliseconds: number
}

async function measurePage({ round, page, captures, pauseMilliseconds }: Turn, bare: BarePod, apis: readonly Api[]): Promise<Sample> {
  const sample = { ...emptySample(round, page), load: loadavg()[0] ?? 0 }
  const made: ProductCapture[] = []
  const loop = (way: LoopOrder['way']) => bare.run({ pages: [page], count: 1, browsers: 1, way, viewport: VIEWPORT, pictures: true })
  for (let n = 0; n < captures; n++) {
    const raw = await loop('raw')
    const library = await loop('library')
    const product = await captureOnce(page, apis[n % apis.length] as Api, pauseMilliseconds)
    made.push(product)
    sample.bare.push(...(raw.milliseconds[page] ?? []))
    sample.library.push(...(library.milliseconds[page] ?? []))
    sample.product.push(product.milliseconds)
    sample.withRequest.push(product.withRequest)
    sample.album.loop.push(await fingerprint(Buffer.from(raw.pictures[page] ?? '', 'base64')))
    sample.album.product.push(await fingerprint(product.picture))
    sample.repeated += raw.repeated
  }
  sample.shots = await readObjects(made.map(({ id }) => id))
  // The next round must start in the same state.
  for (const { id, api } of made) await api.remove(id)
  return sample
}

const emptySample = (round: number, page: string): Sample => ({
  round,
  page,
  bare: [],
  library: [],
  product: [],
  withRequest: [],
  shots: [],
  album: { loop: [], product: [] },
  repeated: 0,
  load: 0,
})
