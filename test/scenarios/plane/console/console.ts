import { readLoad } from '../../harness/machine.ts'
import { scenario } from '../../harness/scenario.ts'
import { median } from '../../harness/statistics.ts'
import { fixed, tableOf } from '../../harness/table.ts'
import { plane } from '../stage/plane.ts'
import { makeSchedule, openConsole } from './console-stage.ts'
import { type Device, LIGHTHOUSE_VERSION, type LighthouseRun, runLighthouse } from './lighthouse.ts'
import { type BatchFigures, type ListFigures, measureBatch, measureList } from './list.ts'

/** Records of the account whose pages Lighthouse opens. */
const SOME_RECORDS = 300
const DEVICES: readonly Device[] = ['mobile', 'desktop']

/** Runs of one page on one device, with the load averages after each. */
interface LighthouseRuns {
  page: string
  device: Device
  runs: LighthouseRun[]
  loads: number[]
}

export const consolePages = scenario({
  name: 'console-pages',
  shows: 'each page of the console in Lighthouse, which is installed from npm beside the repository',
  stage: plane({ fsync: false }),
  options: { rounds: 5 },
  run: async ({ settings: { rounds }, ...context }) => {
    const stage = await openConsole(context, SOME_RECORDS)
    const { schedule, run } = await makeSchedule(stage)
    const pages = {
      playground: 'playground',
      screenshots: 'screenshots',
      'one screenshot': `screenshots/${run}`,
      schedules: 'schedules',
      'one schedule': `schedules/${schedule}`,
      'new schedule': 'schedules/new',
      webhooks: 'webhooks',
      keys: 'keys',
      usage: 'usage',
      system: 'system',
    }
    const all: LighthouseRuns[] = []
    for (const [page, path] of Object.entries(pages)) {
      for (const device of DEVICES) {
        const one: LighthouseRuns = { page, device, runs: [], loads: [] }
        for (let round = 0; round < rounds; round++) {
          one.runs.push(await runLighthouse(stage, path, device))
          one.loads.push(readLoad())
        }
        all.push(one)
        context.progress(`lighthouse: ${page}, ${device}`)
      }
    }
    const middle = (pick: (run: LighthouseRun) => number) => (one: LighthouseRuns) => median(one.runs.map(pick))
    const targets = 'target: performance and best practices 95; medians of the rounds'
    context.table(
      tableOf(`Pages of the console by Lighthouse ${LIGHTHOUSE_VERSION} (${targets})`, all, {
        page: ({ page }) => page,
        device: ({ device }) => device,
        performance: middle(({ performance }) => performance),
        'best practices': middle(({ bestPractices }) => bestPractices),
        'first paint (ms)': middle(({ firstPaint }) => firstPaint),
        'largest paint (ms)': middle(({ largestPaint }) => largestPaint),
        'blocking (ms)': middle(({ blocking }) => blocking),
        shift: (one) => fixed(middle(({ shift }) => shift)(one), 3),
        load: ({ loads }) => fixed(median(loads), 1),
      }),
    )
  },
})

const MANY_RECORDS = 10_000
const STEPS = [100, 1_000, 5_000, MANY_RECORDS]

export const consoleLists = scenario({
  name: 'console-lists',
  shows: 'the list of 10,000 screenshots: scrolling, and a batch that fills in',
  stage: plane({ fsync: false }),
  options: { rounds: 5 },
  run: async ({ settings: { rounds }, ...context }) => {
    const stage = await openConsole(context, MANY_RECORDS)
    const lists: ListFigures[] = []
    const loads: number[] = []
    for (let round = 0; round < rounds; round++) {
      lists.push(await measureList(stage, STEPS, context.progress))
      loads.push(readLoad())
    }
    const thumbnail = `thumbnails of ${Math.round((stage.thumbnails[0]?.length ?? 0) / 1_024)} KiB`
    const firstPage = fixed(median(lists.map((list) => list.firstPage)), 0)
    const measured = `measured: first page ${firstPage} ms with ${thumbnail}, load ${fixed(median(loads), 1)}`
    const title = `The list of screenshots (target: first page 1,000 ms, 95 of 100 frames within 20 ms; ${measured})`
    const steps = STEPS.map((records, step) => ({ records, samples: lists.flatMap(({ samples }) => samples[step] ?? []) }))
    type Sample = ListFigures['samples'][number]
    const middle = (pick: (sample: Sample) => number, digits: number) => (step: (typeof steps)[number]) =>
      fixed(median(step.samples.map(pick)), digits)
    context.table(
      tableOf(title, steps, {
        'loaded records': ({ records }) => records,
        'frames p50 (ms)': middle(({ frames }) => frames.p50, 1),
        'frames p95 (ms)': middle(({ frames }) => frames.p95, 1),
        'longest (ms)': middle(({ frames }) => frames.most, 0),
        'renderer (processor ms/s)': middle(({ processor }) => processor.renderer, 0),
        'gpu (processor ms/s)': middle(({ processor }) => processor.gpu, 0),
        'script heap (MiB)': middle(({ heapMebibytes }) => heapMebibytes, 1),
        nodes: middle(({ nodes }) => nodes, 0),
      }),
    )
    const batches: (BatchFigures & { round: number })[] = []
    for (let round = 1; round <= rounds; round++) batches.push({ round, ...(await measureBatch(stage, context.progress)) })
    context.table(
      tableOf('A batch of 100 while the list of 10,000 is open (it refreshes itself every 5 s)', batches, {
        round: ({ round }) => round,
        'shown as pending (s)': ({ appeared }) => appeared.toFixed(1),
        'shown with pictures, after the last capture (s)': ({ filled }) => filled.toFixed(1),
        reloads: ({ reloads }) => reloads,
      }),
    )
  },
})
