import { loadavg } from 'node:os'
import type { Table } from '../report/table.ts'
import type { Settings } from '../settings.ts'
import { type BatchFigures, measureBatch } from './batch.ts'
import { measureBrowsers } from './browsers.ts'
import { type Device, type LighthouseRun, type LighthouseRuns, runLighthouse } from './lighthouse.ts'
import { type ListFigures, measureList } from './list.ts'
import { batchTable, browsersTable, lighthouseTable, listTable } from './report.ts'
import { makeSchedule } from './schedule.ts'
import { withConsole } from './stage.ts'

/** Records of the account whose pages Lighthouse opens. */
const SOME_RECORDS = 300
const MANY_RECORDS = 10_000
const STEPS = [100, 1_000, 5_000, MANY_RECORDS]
const DEVICES: readonly Device[] = ['mobile', 'desktop']

const readLoad = (): number => loadavg()[0] ?? 0

/** Lighthouse on each page. */
export async function measurePages({ rounds }: Pick<Settings, 'rounds'>, progress: (line: string) => void): Promise<Table> {
  return withConsole(SOME_RECORDS, progress, async (stage) => {
    const { schedule, run } = await makeSchedule(stage)
    const pages: readonly [page: string, path: string][] = [
      ['playground', 'playground'],
      ['screenshots', 'screenshots'],
      ['one screenshot', `screenshots/${run}`],
      ['schedules', 'schedules'],
      ['one schedule', `schedules/${schedule}`],
      ['new schedule', 'schedules/new'],
      ['webhooks', 'webhooks'],
      ['keys', 'keys'],
      ['usage', 'usage'],
      ['system', 'system'],
    ]
    const all: LighthouseRuns[] = []
    for (const [page, path] of pages) {
      for (const device of DEVICES) {
        const runs: LighthouseRun[] = []
        const loads: number[] = []
        for (let round = 0; round < rounds; round++) {
          runs.push(await runLighthouse(stage, path, device))
          loads.push(readLoad())
        }
        all.push({ page, device, runs, loads })
        progress(`lighthouse: ${page}, ${device}`)
      }
    }
    return lighthouseTable(all)
  })
}

/** Opens and scrolls the list of 10,000 screenshots, fills in a batch, and opens the list in many browsers. */
export async function measureLists({ rounds }: Pick<Settings, 'rounds'>, progress: (line: string) => void): Promise<Table[]> {
  return withConsole(MANY_RECORDS, progress, async (stage) => {
    const lists: ListFigures[] = []
    const batches: BatchFigures[] = []
    const loads: number[] = []
    const [{ length: thumbnailBytes } = { length: 0 }] = stage.thumbnails
    for (let round = 0; round < rounds; round++) {
      lists.push(await measureList(stage, STEPS, progress))
      loads.push(readLoad())
    }
    for (let round = 0; round < rounds; round++) {
      batches.push(await measureBatch(stage, progress))
      progress('batch shown')
    }
    return [listTable(lists, { thumbnailBytes, loads }), batchTable(batches), browsersTable(await measureBrowsers(stage, progress))]
  })
}
