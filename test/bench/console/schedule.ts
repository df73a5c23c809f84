import { accessFromKubeconfig } from '../../../crds/client/cluster-access.ts'
import { screenshotSchedules } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { CaptureResult } from '../../../crds/src/kinds/screenshot.ts'
import type { ScreenshotSchedule } from '../../../crds/src/kinds/screenshot-schedule.ts'
import type { StoredRun } from '../../../crds/src/records/run.ts'
import { baselineKey, runKey } from '../../../crds/src/records/storage-keys.ts'
import { complete } from '../../integration/api-gateway/runner-role.ts'
import { ACCOUNT, type ConsoleStage } from './stage.ts'

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
  const { world, key, gateway } = stage
  const picture = await drawPicture(stage)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const post = async (path: string, body: object): Promise<{ id?: string; data?: { id: string } }> => {
    const response = await fetch(`${gateway.url}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`POST ${path} returned ${response.status}: ${await response.text()}`)
    return response.json() as Promise<{ id?: string; data?: { id: string } }>
  }
  const body = { name: 'home page', schedule: '0 9 * * *', url: 'https://example.com/', comparison: { baseline: 'previous' } }
  const { data } = await post('/schedules', body)
  const id = data?.id ?? ''
  const http = new KubeHttp(await accessFromKubeconfig(world.plane.kubeconfigPath))
  const schedules: Schedules = new Resource(http, screenshotSchedules)
  const ids: string[] = []
  for (let run = 0; run < RUNS; run++) {
    const { id: created = '' } = await post(`/schedules/${id}/run`, {})
    const more: Partial<CaptureResult> = { ...SIZE, timings: { navigate: 412, settle: 102, screenshot: 120, upload: 35 } }
    const comparison = { changed: true, changedRatio: 0.0124, changedPixels: 12_345, sizeChanged: false, regions: [] }
    await complete(created, picture, world, run === 0 ? more : { ...more, comparison })
    ids.push(created)
    if (run === 0) await keepBaseline(schedules, created)
  }
  await recordRuns(stage, schedules, ids)
  await http.close()
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
async function recordRuns({ world }: ConsoleStage, schedules: Schedules, ids: readonly string[]): Promise<void> {
  const runs: StoredRun[] = []
  for (const id of ids) {
    const { spec, status = {} } = await world.screenshots.get(toObjectName(id))
    const { uid = '', time = '' } = spec.scheduleRef ?? {}
    const run: StoredRun = { version: 1, id, time, outcome: 'completed', completionTime: status.completionTime ?? time }
    await world.bucket.putObject('tintype', runKey(ACCOUNT, uid, id), JSON.stringify(run))
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
