import { screenshotSchedules } from '../../../../crds/client/kinds.ts'
import { mergePatch } from '../../../../crds/client/patch.ts'
import { Resource } from '../../../../crds/client/resource.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { CaptureResult } from '../../../../crds/src/kinds/screenshot.ts'
import type { ScreenshotSchedule } from '../../../../crds/src/kinds/screenshot-schedule.ts'
import type { StoredRun } from '../../../../crds/src/records/run.ts'
import { baselineKey, runKey } from '../../../../crds/src/records/storage-keys.ts'
import { complete } from '../../../integration/api-gateway/runner-role.ts'
import { bodyOf, send } from '../stage/requests.ts'
import { ACCOUNT, type ConsoleStage } from './console-stage.ts'

type Schedules = Resource<ScreenshotSchedule>

const RUNS = 12
const SIZE = { width: 1280, height: 800 }

/** Ids of a schedule and of its last run. */
export interface MadeSchedule {
  schedule: string
  run: string
}

/** Creates a schedule with runs that are compared. The runs end as operator and runner end them. */
export async function makeSchedule(stage: ConsoleStage): Promise<MadeSchedule> {
  const { plane, key, gateway } = stage
  const picture = await drawPicture(stage)
  const post = async <T>(path: string, wanted: number, body: object) =>
    bodyOf<T>(await send(`${gateway.url}/v1${path}`, { method: 'POST', key, body }), wanted)
  const body = { name: 'home page', schedule: '0 9 * * *', url: 'https://example.com/', comparison: { baseline: 'previous' } }
  const { id } = (await post<{ data: { id: string } }>('/schedules', 201, body)).data
  const schedules: Schedules = new Resource(plane.admin, screenshotSchedules)
  const ids: string[] = []
  for (let run = 0; run < RUNS; run++) {
    const { id: created } = await post<{ id: string }>(`/schedules/${id}/run`, 202, {})
    const more: Partial<CaptureResult> = { ...SIZE, timings: { navigate: 412, settle: 102, screenshot: 120, upload: 35 } }
    const comparison = { changed: true, changedRatio: 0.0124, changedPixels: 12_345, sizeChanged: false, regions: [] }
    await complete(created, picture, plane, run === 0 ? more : { ...more, comparison })
    ids.push(created)
    if (run === 0) await keepBaseline(schedules, created)
  }
  await recordRuns(stage, schedules, ids)
  return { schedule: id, run: ids.at(-1) ?? '' }
}

async function drawPicture({ browser }: ConsoleStage): Promise<Buffer> {
  const page = await browser.newPage({ viewport: SIZE })
  await page.setContent('<body style="margin:0;background:linear-gradient(#fdd,#ddf);font:40px sans-serif">A captured page')
  const picture = await page.screenshot()
  await page.close()
  return picture
}

/** Stores the runs in the bucket, and the last ones in the status of the schedule, as the operator does. */
async function recordRuns({ plane }: ConsoleStage, schedules: Schedules, ids: readonly string[]): Promise<void> {
  const runs: StoredRun[] = []
  for (const id of ids) {
    const { spec, status = {} } = await plane.screenshots.get(toObjectName(id))
    const { uid = '', time = '' } = spec.scheduleRef ?? {}
    const run: StoredRun = { version: 1, id, time, outcome: 'completed', completionTime: status.completionTime ?? time }
    await plane.bucket.putObject('tintype', runKey(ACCOUNT, uid, id), JSON.stringify(run))
    runs.unshift(run)
  }
  const [last] = runs
  if (!last) return
  const { id, time } = last
  await patchStatus(schedules, {
    lastComparison: { id, time, to: ids[0], changed: true, changedRatio: 0.0124, changedPixels: 12_345, sizeChanged: false },
    recentRuns: runs.slice(0, 3).map(({ version: _, ...run }) => run),
  })
}

/** The picture that the next runs are compared with. */
async function keepBaseline(schedules: Schedules, id: string): Promise<void> {
  const [schedule] = await schedules.listAll()
  const key = baselineKey(ACCOUNT, schedule?.metadata.uid ?? '', id)
  await patchStatus(schedules, { baseline: { id, time: new Date().toISOString(), key, etag: '"x"' } })
}

async function patchStatus(schedules: Schedules, status: object): Promise<void> {
  const [schedule] = await schedules.listAll()
  await schedules.patch(schedule?.metadata.name ?? '', mergePatch({ status }), { subresource: 'status' })
}
