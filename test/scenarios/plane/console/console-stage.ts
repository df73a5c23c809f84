import { createHash } from 'node:crypto'
import { type Browser, type BrowserContext, chromium } from 'playwright'
import { screenshotSchedules } from '../../../../crds/client/kinds.ts'
import { mergePatch } from '../../../../crds/client/patch.ts'
import { Resource } from '../../../../crds/client/resource.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { CaptureResult } from '../../../../crds/src/kinds/screenshot.ts'
import type { ScreenshotSchedule } from '../../../../crds/src/kinds/screenshot-schedule.ts'
import { artifactsOf } from '../../../../crds/src/options/artifacts.ts'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import type { StoredRun } from '../../../../crds/src/records/run.ts'
import { baselineKey, objectKey, runKey } from '../../../../crds/src/records/storage-keys.ts'
import { mapConcurrently } from '../../../../crds/src/runtime/map-concurrently.ts'
import { complete } from '../../../integration/api-gateway/runner-role.ts'
import type { Context } from '../../harness/scenario.ts'
import { createFinished } from '../stage/finished.ts'
import type { Plane } from '../stage/plane.ts'
import { prepareGateway } from '../stage/programs.ts'
import { bodyOf, send } from '../stage/requests.ts'

// A gateway with the built console, and an account with finished screenshots that have thumbnails. Nothing is captured.

export const CHROMIUM = '/usr/bin/chromium-headless-shell'
export const ACCOUNT = 'bench'
/** Pictures are repeated: decoding costs the same, and the store needs less time. */
const DISTINCT_PICTURES = 40
const PUTS_AT_ONCE = 32

/** Options of captures in the console's lists, as the chart value `capture.thumbnailWidth` sets them. */
export const OPTIONS = { thumbnailWidth: 320, thumbnailHeight: 240, thumbnailFormat: 'webp' } as const satisfies CaptureOptions

export type ConsoleStage = Awaited<ReturnType<typeof openConsole>>

/** Creates `records` finished screenshots, and signs in. */
export async function openConsole({ stage, ends, progress }: Omit<Context<Plane>, 'settings'>, records: number) {
  const environment = { TINTYPE_RETENTION_MAX_LIVE: String(records + 1_000) }
  const { gateway, keys } = await prepareGateway(stage, { [ACCOUNT]: 'scale' }, { environment })
  const [key = ''] = keys
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  ends.teardown(() => browser.close())
  const thumbnails = await drawThumbnails(browser)
  await fill(stage, thumbnails, records)
  progress(`${records} screenshots created`)
  /** `cookie`: the value of the session's cookie. `thumbnails`: WebP files of realistic size. */
  return { plane: stage, gateway, browser, key, cookie: await signIn(gateway.url, key), thumbnails }
}

/** Pictures with text and gradients, as pages have them. */
async function drawThumbnails(browser: Browser): Promise<Buffer[]> {
  const page = await browser.newPage()
  const texts = await page.evaluate<string[]>(`Array.from({ length: ${DISTINCT_PICTURES} }, (_, index) => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 240 })
    const context = canvas.getContext('2d')
    const gradient = context.createLinearGradient(0, 0, 320, 240)
    gradient.addColorStop(0, 'hsl(' + index * 9 + ' 60% 90%)')
    gradient.addColorStop(1, 'hsl(' + index * 9 + ' 60% 60%)')
    context.fillStyle = gradient
    context.fillRect(0, 0, 320, 240)
    context.fillStyle = '#222'
    for (let line = 0; line < 20; line++) {
      context.font = (line === 0 ? 'bold 16px' : '9px') + ' sans-serif'
      context.fillText('Page ' + index + ', line ' + line + ': the quick brown fox jumps over the lazy dog', 12, 24 + line * 11)
    }
    return canvas.toDataURL('image/webp', 0.8).split(',')[1]
  })`)
  await page.close()
  return texts.map((text) => Buffer.from(text, 'base64'))
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

/** A separate profile of the browser that is signed in. */
export async function openContext({ browser, gateway: { url }, cookie }: ConsoleStage): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  await context.addCookies([{ name: 'tintype-session', value: cookie, url, httpOnly: true, sameSite: 'Strict' }])
  return context
}

type Schedules = Resource<ScreenshotSchedule>

const RUNS = 12
const SIZE = { width: 1280, height: 800 }

/** Creates a schedule with runs that are compared. The runs end as operator and runner end them. */
export async function makeSchedule(stage: ConsoleStage): Promise<{ schedule: string; run: string }> {
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
