import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import { median } from '../report/statistics.ts'
import { createArticleServer } from './article.ts'
import { CHROMIUM } from './measure.ts'
import { memoryOfRunner, peakOf } from './memory.ts'
import { processorSeconds } from './processor.ts'
import type { RunnerMessage } from './runner-program.ts'
import { type BenchRunner, openRunner } from './runners.ts'
import { openStore } from './store.ts'

/**
 * Results for one tall page with text and photos: time, processor time, and memory of the runner with both browsers in MiB, idle and at
 * most.
 */
export interface TallSample {
  height: number
  format: string
  milliseconds: number
  /** Milliseconds of each step. */
  timings: Record<string, number>
  processorMilliseconds: number
  rest: number
  runner: number
  peak: number
  isWhole: boolean
}

const REST_MILLISECONDS = 3_000
const SIZES: readonly { height: number; options: CaptureOptions }[] = [
  { height: 10_000, options: { format: 'png' } },
  { height: 25_000, options: { format: 'png' } },
  { height: 50_000, options: { format: 'png' } },
  { height: 25_000, options: { format: 'jpeg' } },
  { height: 50_000, options: { format: 'jpeg' } },
]

/**
 * Each page has a separate runner: one warm-up, `rounds` captures for the time, and one for the memory, because measuring memory costs
 * time.
 */
export async function measureTall({ rounds }: { rounds: number }, progress: (line: string) => void): Promise<TallSample[]> {
  const pages = await createArticleServer()
  pages.listen(0, '127.0.0.1')
  await once(pages, 'listening')
  const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`
  const store = await openStore()
  const samples: TallSample[] = []
  try {
    for (const { height, options } of SIZES) {
      const runner = await openRunner({ executablePath: CHROMIUM, chromiumSandbox: process.getuid?.() !== 0 }, store)
      const wanted: CaptureOptions = { ...options, fullPage: true, fullPageMaxHeight: height, captureTimeout: 120_000 }
      const capture = () => runner.capture(`${origin}/article?height=${height}`, randomUUID(), wanted)
      samples.push({ height, format: options.format ?? '', ...(await measurePage(runner, capture, { rounds, height })) })
      progress(`tall: ${height} pixels, ${options.format}`)
      await runner.close()
    }
    return samples
  } finally {
    await store.close()
    pages.close().closeAllConnections()
  }
}

async function measurePage(
  runner: BenchRunner,
  capture: () => Promise<RunnerMessage>,
  { rounds, height }: { rounds: number; height: number },
): Promise<Omit<TallSample, 'height' | 'format'>> {
  await capture()
  await sleep(REST_MILLISECONDS) // until its standby browser is ready
  const rest = memoryOfRunner(runner.pid).all
  const answers: RunnerMessage[] = []
  const used = processorSeconds([runner.pid])
  for (let round = 0; round < rounds; round++) answers.push(await capture())
  const processorMilliseconds = ((processorSeconds([runner.pid]) - used) * 1_000) / rounds
  const { result, peak } = await peakOf(runner.pid, capture)
  const steps = [...new Set(answers.flatMap(({ timings }) => Object.keys(timings)))]
  return {
    milliseconds: median(answers.map(({ milliseconds }) => milliseconds)),
    timings: Object.fromEntries(steps.map((step) => [step, median(answers.map(({ timings }) => timings[step] ?? 0))])),
    processorMilliseconds,
    rest,
    runner: peak.runner,
    peak: peak.all,
    isWhole: [...answers, result].every((answer) => answer.height === height && !answer.warnings?.length),
  }
}
