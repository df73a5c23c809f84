import { Api } from './api.ts'
import type { BarePod } from './bare-pod.ts'
import { fingerprint } from './pictures.ts'
import { waitUntilIdle } from './pool.ts'
import { captureAtOnce, removeAll } from './product.ts'
import { VIEWPORT } from './sequential.ts'
import type { Settings } from './settings.ts'

/** Results of one round of the burst. */
export interface BurstSample {
  round: number
  screenshots: number
  bareMilliseconds: number
  productMilliseconds: number
  /** Fingerprints of one picture per page of each side. */
  prints: Record<string, { loop: string; product: string }>
}

/** Captures `settings.burst` screenshots concurrently, with the same number of browsers on both sides. The pool must already have its size. */
export async function measureBurst(settings: Settings, bare: BarePod, progress: (line: string) => void): Promise<BurstSample[]> {
  const { pages, burst, browsers, rounds } = settings
  const urls = Array.from({ length: burst }, (_, n) => pages[n % pages.length] ?? '')
  const count = Math.ceil(burst / pages.length)
  const api = new Api({ connections: burst })
  const samples: BurstSample[] = []
  for (let round = 1; round <= rounds; round++) {
    const order = { pages, count, browsers, way: 'raw', viewport: VIEWPORT, pictures: true } as const
    const loop = await bare.run(order)
    await waitUntilIdle()
    const product = await captureAtOnce(urls, api)
    const prints: BurstSample['prints'] = {}
    for (const [page, picture] of Object.entries(product.pictures)) {
      const theirs = Buffer.from(loop.pictures[page] ?? '', 'base64')
      prints[page] = { loop: await fingerprint(theirs), product: await fingerprint(picture) }
    }
    samples.push({
      round,
      screenshots: burst,
      bareMilliseconds: (loop.totalMilliseconds * burst) / (count * pages.length),
      productMilliseconds: product.milliseconds,
      prints,
    })
    progress(`burst ${round}: ${burst} screenshots`)
    await removeAll(product.ids, api)
  }
  api.close()
  return samples
}
