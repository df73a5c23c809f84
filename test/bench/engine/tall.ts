import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CaptureOptions } from '@tintype/crds/capture-options/catalogue'
import { CHROMIUM } from './measure.ts'
import { memoryOfRunner, peakOf } from './memory.ts'
import { openRunner } from './runners.ts'
import { openSite } from './site.ts'
import { openStore } from './store.ts'

/** One tall page: mebibytes of the runner with both its browsers, at rest and at most. */
export interface TallSample {
  height: number
  format: string
  milliseconds: number
  rest: number
  runner: number
  peak: number
  isWhole: boolean
}

const REST_MILLISECONDS = 3_000
const SIZES: readonly { height: number; options: CaptureOptions }[] = [
  { height: 25_000, options: { format: 'png' } },
  { height: 50_000, options: { format: 'png' } },
  { height: 25_000, options: { format: 'jpeg' } },
  { height: 50_000, options: { format: 'jpeg' } },
]

/** Each page in a runner of its own. */
export async function measureTall(tell: (line: string) => void): Promise<TallSample[]> {
  const site = await openSite()
  const store = await openStore()
  const samples: TallSample[] = []
  try {
    for (const { height, options } of SIZES) {
      const runner = await openRunner({ executablePath: CHROMIUM, chromiumSandbox: process.getuid?.() !== 0 }, store)
      await sleep(REST_MILLISECONDS) // its spare browser is up
      const rest = memoryOfRunner(runner.pid).all
      const wanted: CaptureOptions = { ...options, fullPage: true, fullPageMaxHeight: height, captureTimeout: 120_000 }
      const key = randomUUID()
      const { result, peak } = await peakOf(runner.pid, () => runner.capture(site.page(`tall?height=${height}&header=60`), key, wanted))
      const isWhole = result.height === height && !result.warnings?.length
      const { format = '' } = options
      samples.push({ height, format, milliseconds: result.milliseconds, rest, runner: peak.runner, peak: peak.all, isWhole })
      tell(`tall: ${height} pixels, ${format}`)
      await runner.close()
    }
    return samples
  } finally {
    await store.close()
    site.close()
  }
}
