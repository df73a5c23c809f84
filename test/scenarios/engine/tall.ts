import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import { serve } from '../../support/servers/serve.ts'
import { memoryOfRunner, peakOf, processorSeconds } from '../harness/processes.ts'
import { scenario } from '../harness/scenario.ts'
import { median } from '../harness/statistics.ts'
import { tableOf } from '../harness/table.ts'
import { serveArticles } from './stage/article.ts'
import { engineStage } from './stage/engine.ts'
import type { RunnerMessage } from './stage/runner-program.ts'
import { openRunner } from './stage/runners.ts'

const REST_MILLISECONDS = 3_000
/** Mebibytes that browsers and runner may use together for a page of 50,000 pixels. */
const BAR_MEBIBYTES = 1_126
const SIZES = [
  { height: 10_000, format: 'png' },
  { height: 25_000, format: 'png' },
  { height: 50_000, format: 'png' },
  { height: 25_000, format: 'jpeg' },
  { height: 50_000, format: 'jpeg' },
] as const
/** Steps that take long on a tall page. */
const STEPS = ['navigate', 'sweep', 'screenshot', 'upload']

/**
 * Each page has a separate runner: one warm-up, `rounds` captures for the time, and one for the memory, because measuring memory costs
 * time.
 */
export const tall = scenario({
  name: 'tall',
  shows: 'time by step, and memory of the runner with both browsers, for full pages of 10,000 to 50,000 pixels',
  stage: engineStage,
  options: { rounds: 5 },
  run: async ({ stage: { store }, settings: { rounds }, ends, ...report }) => {
    const origin = await serve(ends, await serveArticles())
    const samples: Sample[] = []
    for (const size of SIZES) {
      const { height, format } = size
      const runner = await openRunner(store)
      const options: CaptureOptions = { format, fullPage: true, fullPageMaxHeight: height, captureTimeout: 120_000 }
      const capture = () => runner.capture(`${origin}/article?height=${height}`, randomUUID(), options)
      await capture()
      await sleep(REST_MILLISECONDS) // until its standby browser is ready
      const rest = memoryOfRunner(runner.pid).all
      const used = processorSeconds([runner.pid])
      const answers: RunnerMessage[] = []
      for (let round = 0; round < rounds; round++) answers.push(await capture())
      const processor = ((processorSeconds([runner.pid]) - used) * 1_000) / rounds
      const { result, peak } = await peakOf(runner.pid, capture)
      await runner.close()
      const isWhole = [...answers, result].every((answer) => answer.height === height && !answer.warnings?.length)
      samples.push({ ...size, answers, processor, rest, peak: peak.all, runner: peak.runner })
      report.holds(`the ${format} of ${height} pixels is whole`, isWhole, `${answers.length + 1} pictures`)
      report.atMost(`MiB for the ${format} of ${height} pixels`, peak.all, BAR_MEBIBYTES, 'MiB')
    }
    const size = { height: ({ height }: Sample) => String(height), format: ({ format }: Sample) => format }
    const step = (name: string) => [name, ({ answers }: Sample) => median(answers.map(({ timings }) => timings[name] ?? 0))] as const
    report.table(
      tableOf('Full pages by height: duration of the steps (medians, ms)', samples, {
        ...size,
        all: ({ answers }) => median(answers.map(({ milliseconds }) => milliseconds)),
        ...Object.fromEntries(STEPS.map(step)),
        processor: ({ processor }) => processor,
      }),
    )
    report.table(
      tableOf('Full pages by height: memory of the runner with both browsers (MiB)', samples, {
        ...size,
        'at rest': ({ rest }) => rest,
        'at most': ({ peak }) => peak,
        'runner only': ({ runner }) => runner,
      }),
    )
  },
})

type Sample = (typeof SIZES)[number] & {
  answers: readonly RunnerMessage[]
  /** Milliseconds of processor time of one capture. */
  processor: number
  /** MiB of the runner with both browsers, idle and at most, and of the runner alone at most. */
  rest: number
  peak: number
  runner: number
}
