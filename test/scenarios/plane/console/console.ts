import { readLoad } from '../../harness/machine.ts'
import { scenario } from '../../harness/scenario.ts'
import { median } from '../../harness/statistics.ts'
import { fixed, tableOf } from '../../harness/table.ts'
import { plane } from '../stage/plane.ts'
import { makeSchedule, openConsole } from './console-stage.ts'
import { type Device, LIGHTHOUSE_VERSION, type LighthouseRun, runLighthouse } from './lighthouse.ts'

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
