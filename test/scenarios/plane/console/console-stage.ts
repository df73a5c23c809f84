import { createHash } from 'node:crypto'
import sharp, { type Sharp } from 'sharp'
import { screenshotSchedules } from '../../../../crds/client/kinds.ts'
import { mergePatch, Resource } from '../../../../crds/client/resource.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { CaptureResult } from '../../../../crds/src/kinds/screenshot.ts'
import type { ScreenshotSchedule } from '../../../../crds/src/kinds/screenshot-schedule.ts'
import { artifactsOf } from '../../../../crds/src/options/artifacts.ts'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import type { StoredRun } from '../../../../crds/src/records/run.ts'
import { baselineKey, objectKey, runKey } from '../../../../crds/src/records/storage-keys.ts'
import { mapConcurrently } from '../../../../crds/src/runtime/lists.ts'
import { complete } from '../../../integration/api-gateway/runner-role.ts'
import type { Context } from '../../harness/scenario.ts'
import { createFinished } from '../stage/finished.ts'
import type { Plane } from '../stage/plane.ts'
import { prepareGateway } from '../stage/programs.ts'
import { bodyOf, send } from '../stage/requests.ts'

// A gateway with the built console, and an account with finished screenshots that have thumbnails. Nothing is captured.

const ACCOUNT = 'bench'
/** Pictures are repeated: decoding costs the same, and the store needs less time. */
const DISTINCT_PICTURES = 40
const PUTS_AT_ONCE = 32

/** Options of captures in the console's lists, as the chart value `capture.thumbnailWidth` sets them. */
const OPTIONS = { thumbnailWidth: 320, thumbnailHeight: 240, thumbnailFormat: 'webp' } as const satisfies CaptureOptions

export type ConsoleStage = Awaited<ReturnType<typeof openConsole>>

/** Creates `records` finished screenshots, and signs in. */
export async function openConsole({ stage, progress }: Omit<Context<Plane>, 'settings'>, records: number) {
  const environment = { TINTYPE_RETENTION_MAX_LIVE: String(records + 1_000) }
  const { gateway, keys } = await prepareGateway(stage, { [ACCOUNT]: 'scale' }, { environment })
  const [key = ''] = keys
  const hues = Array.from({ length: DISTINCT_PICTURES }, (_, index) => index * 9)
  await fill(stage, await Promise.all(hues.map((hue) => draw({ width: 320, height: 240 }, hue).webp().toBuffer())), records)
  progress(`${records} screenshots created`)
  /** `cookie`: the value of the session's cookie. */
  return { plane: stage, gateway, key, cookie: await signIn(gateway.url, key) }
}

/** A picture with text on a gradient, as pages have them. */
function draw({ width, height }: { width: number; height: number }, hue: number): Sharp {
  const line = (n: number) => `<text x="12" y="${(n + 1) * 5}%">Line ${n}: the quick brown fox jumps over the lazy dog</text>`
  const lines = Array.from({ length: 20 }, (_, n) => line(n))
  return sharp(
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-size="${height / 25}">
      <linearGradient id="sky" x2="1" y2="1"><stop stop-color="hsl(${hue},60%,90%)"/>
        <stop offset="1" stop-color="hsl(${hue},60%,60%)"/></linearGradient>
      <rect width="100%" height="100%" fill="url(#sky)"/>${lines.join('')}</svg>`),
  )
}

/** Facts of a thumbnail, as a runner reports them. */
const toArtifact = (bytes: Buffer) => ({
  type: 'thumbnail' as const,
  fileSizeBytes: bytes.length,
  etag: createHash('md5').update(bytes).digest('hex'),
})

/** Stores a thumbnail as a runner does. */
async function putThumbnail({ bucket }: Plane, id: string, bytes: Buffer): Promise<void> {
  const [artifact] = artifactsOf(OPTIONS)
  if (!artifact) throw new Error('the options have no thumbnail')
  const { extension, contentType } = artifact
  await bucket.putObject('tintype', objectKey(ACCOUNT, id, extension), bytes, bytes.length, { 'content-type': contentType })
}

async function fill(plane: Plane, thumbnails: readonly Buffer[], records: number): Promise<void> {
  const pick = (index: number): Buffer => thumbnails[index % thumbnails.length] ?? Buffer.alloc(0)
  const resultOf = (index: number) => ({ artifacts: [toArtifact(pick(index))] })
  const ids = await createFinished(plane, ACCOUNT, records, { options: OPTIONS, resultOf })
  await mapConcurrently(ids, PUTS_AT_ONCE, (id, index) => putThumbnail(plane, id, pick(index)))
}

const CONSOLE_HEADERS = { 'x-tintype-console': '1', 'sec-fetch-site': 'same-origin' }
const COOKIE = /^tintype-session=([^;]+)/

/** Begins a session. Returns the value of its cookie. */
async function signIn(url: string, key: string): Promise<string> {
  const request = { method: 'POST', headers: CONSOLE_HEADERS, body: { api_key: key } }
  const { headers, status, text } = await send(`${url}/console/session`, request)
  const [, cookie] = COOKIE.exec(headers['set-cookie']?.[0] ?? '') ?? []
  if (cookie === undefined) throw new Error(`the sign-in returned ${status}: ${text}`)
  return cookie
}

type Schedules = Resource<ScreenshotSchedule>

const RUNS = 12
const SIZE = { width: 1280, height: 800 }

/** Creates a schedule with runs that are compared. The runs end as operator and runner end them. */
export async function makeSchedule(stage: ConsoleStage): Promise<{ schedule: string; run: string }> {
  const { plane, key, gateway } = stage
  const picture = await draw(SIZE, 0).png().toBuffer()
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
