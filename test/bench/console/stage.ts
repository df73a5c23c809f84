import { createHash } from 'node:crypto'
import { type Browser, type BrowserContext, chromium } from 'playwright'
import { artifactsOf } from '../../../crds/src/options/artifacts.ts'
import type { CaptureOptions } from '../../../crds/src/options/catalog.ts'
import { objectKey } from '../../../crds/src/records/storage-keys.ts'
import type { Gateway, World } from '../../integration/api-gateway/world.ts'
import { undoing } from '../report/undo.ts'
import { createFinished } from '../rest/finished.ts'
import { type Stage as RestStage, withStage } from '../rest/stage.ts'

// A gateway with the built console, and an account with finished screenshots that have thumbnails. Nothing is captured.

export const CHROMIUM = '/usr/bin/chromium-headless-shell'
export const ACCOUNT = 'bench'
/** Pictures are repeated: decoding costs the same, and the store needs less time. */
const DISTINCT_PICTURES = 40
const PUTS_AT_ONCE = 32

/** Options of captures in the console's lists, as the chart value `capture.thumbnailWidth` sets them. */
export const OPTIONS = { thumbnailWidth: 320, thumbnailHeight: 240, thumbnailFormat: 'webp' } as const satisfies CaptureOptions

export interface ConsoleStage extends RestStage {
  gateway: Gateway
  browser: Browser
  /** API key with all scopes, and `admin:read`. */
  key: string
  /** Value of the session's cookie. */
  cookie: string
  /** Thumbnails of realistic size, as WebP. */
  thumbnails: readonly Buffer[]
  /** Ids of the finished screenshots, the oldest first. */
  ids: readonly string[]
}

/** Starts everything, creates `records` finished screenshots, calls `act`, and stops everything. */
export async function withConsole<T>(
  records: number,
  progress: (line: string) => void,
  act: (stage: ConsoleStage) => Promise<T>,
): Promise<T> {
  return withStage({ fsync: false, profile: undefined }, async (stage) => {
    const { world, admin, startGateway } = stage
    await world.createAccount(ACCOUNT, {}, { limit: 1_000_000_000, ratePerMinute: 1_000_000 })
    const key = await world.createKey({ accountName: ACCOUNT, name: 'Ada', scopes: ['*', 'admin:read'] })
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
    return undoing(
      () => browser.close(),
      async () => {
        const thumbnails = await drawThumbnails(browser)
        const ids = await fill(stage, thumbnails, records)
        progress(`${records} screenshots created`)
        const gateway = await startGateway({ TINTYPE_RETENTION_MAX_LIVE: String(records + 1_000) })
        return act({ world, admin, startGateway, gateway, browser, key, cookie: await signIn(gateway.url, key), thumbnails, ids })
      },
    )
  })
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
export const toArtifact = (bytes: Buffer) => ({
  type: 'thumbnail' as const,
  fileSizeBytes: bytes.length,
  etag: createHash('md5').update(bytes).digest('hex'),
})

/** Stores a thumbnail as a runner does. */
export async function putThumbnail({ bucket }: World, id: string, bytes: Buffer): Promise<void> {
  const [artifact] = artifactsOf(OPTIONS)
  if (!artifact) throw new Error('the options have no thumbnail')
  const { extension, contentType } = artifact
  await bucket.putObject('tintype', objectKey(ACCOUNT, id, extension), bytes, bytes.length, { 'content-type': contentType })
}

async function fill({ world, admin }: RestStage, thumbnails: readonly Buffer[], records: number): Promise<string[]> {
  const pick = (index: number): Buffer => thumbnails[index % thumbnails.length] ?? Buffer.alloc(0)
  const resultOf = (index: number) => ({ artifacts: [toArtifact(pick(index))] })
  const ids = await createFinished(admin, ACCOUNT, records, { options: OPTIONS, resultOf })
  const todo = ids.entries()
  const work = async (): Promise<void> => {
    for (const [index, id] of todo) await putThumbnail(world, id, pick(index))
  }
  await Promise.all(Array.from({ length: PUTS_AT_ONCE }, work))
  return ids
}

const CONSOLE_HEADERS = { 'content-type': 'application/json', 'x-tintype-console': '1', 'sec-fetch-site': 'same-origin' }
const COOKIE = /^tintype-session=([^;]+)/

/** Begins a session. Returns the value of its cookie. */
async function signIn(url: string, key: string): Promise<string> {
  const response = await fetch(`${url}/console/session`, {
    method: 'POST',
    headers: CONSOLE_HEADERS,
    body: JSON.stringify({ api_key: key }),
  })
  const [, cookie] = COOKIE.exec(response.headers.get('set-cookie') ?? '') ?? []
  if (cookie === undefined) throw new Error(`the sign-in returned ${response.status}: ${await response.text()}`)
  return cookie
}

/** A separate profile of the browser that is signed in. */
export async function openContext({ browser, gateway: { url }, cookie }: ConsoleStage): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  await context.addCookies([{ name: 'tintype-session', value: cookie, url, httpOnly: true, sameSite: 'Strict' }])
  return context
}
