import type { Browser, CDPSession, Page } from 'playwright'
import t, { type Test } from 'tap'
import { installClient } from '../clients/package.ts'
import { bandColor } from '../sites/src/drawn.ts'
import { escapeHtml } from '../sites/src/handler.ts'
import { type ClusterAccount, createClusterAccount } from '../support/cluster/accounts.ts'
import { type Answer, call, type RecordBody } from '../support/cluster/api-client.ts'
import { cluster } from '../support/cluster/environment.ts'
import { programMetrics, sumOf } from '../support/cluster/metrics.ts'
import { launchPlayer, play } from '../support/cluster/videos.ts'
import { eventually } from '../support/eventually.ts'
import { decode, isNear } from '../support/picture.ts'
import { page } from '../support/servers/pages.ts'
import { serve } from '../support/servers/serve.ts'

// Signed links on the deployed release: in a page of a real browser, and by plain requests. It runs alone, because it counts responses of gateways.

type SignLink = typeof import('../../api-gateway/client/src/index.ts').signLink
type Params = Parameters<SignLink>[0]['params']

t.setTimeout(300_000)
const client = await installClient()
t.teardown(() => client.remove())
const { signLink } = await client.load()

async function createLinkAccount(t: Test, purpose: string) {
  const account = await createClusterAccount(t, purpose, { plan: 'scale' })
  const list = await call<{ data: { id: string }[] }>('/api/v1/keys', { key: account.key })
  /** Of its API key. */
  const id = list.body.data[0]?.id ?? ''
  const { body } = await call<{ data: { link_secret: string } }>(`/api/v1/keys/${id}/link-secret`, { method: 'POST', key: account.key })
  const sign = (params: Params) => signLink({ baseUrl: cluster.url, key: id, secret: body.data.link_secret, params })
  return { ...account, id, sign }
}

const recordsOf = async ({ key }: ClusterAccount): Promise<RecordBody[]> =>
  (await call<{ data: RecordBody[] }>('/api/v1/screenshots?limit=100', { key })).body.data
const isCharged = ({ key, name }: ClusterAccount, units: number): Promise<unknown> =>
  eventually(`${name} is charged ${units} units`, async () => {
    const { body } = await call<{ data: { count: number } }>('/api/v1/usage/current', { key })
    return body.data.count === units
  })
/** Responses of all gateways to links, by outcome. */
const linkResponses = async (outcome = ''): Promise<number> =>
  sumOf(await programMetrics('api-gateway'), 'screenshot_link_requests_total', outcome === '' ? {} : { outcome })

interface Failure {
  error: { code: string; details?: { code?: string } }
}

/** Status and code of the error that a link returns. */
async function failureOf(link: string): Promise<{ status: number; code: string; captureCode?: string | undefined }> {
  const response = await fetch(link)
  const { error } = (await response.json()) as Failure
  return { status: response.status, code: error.code, captureCode: error.details?.code }
}

/** Serves pages with pictures, of a host that is another site than the gateway to the browser. */
async function servePages(t: Test, pages: Record<string, readonly string[]>): Promise<string> {
  const origin = await serve(t, ({ url = '' }, response) => {
    const pictures = (pages[url] ?? []).map(
      (link, index) => `<img id="picture-${index}" style="display:block" alt="" src="${escapeHtml(link)}">`,
    )
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(`<!doctype html><title>Links</title><link rel="icon" href="data:,"><body style="margin:0">${pictures.join('\n')}`)
  })
  return origin.replace('127.0.0.1', 'localhost')
}

let started: Promise<Browser> | undefined
const startBrowser = (): Promise<Browser> => {
  started ??= launchPlayer()
  return started
}
t.teardown(async () => (await started)?.close())

/** Where the pictures of a page came from. */
interface Sources {
  network: string[]
  cache: string[]
}

async function watchPictures(session: CDPSession): Promise<Sources> {
  const sources: Sources = { network: [], cache: [] }
  const fromMemory = new Set<string>()
  await session.send('Network.enable')
  session.on('Network.requestServedFromCache', ({ requestId }) => void fromMemory.add(requestId))
  session.on('Network.responseReceived', ({ requestId, response, type }) => {
    if (type !== 'Image' || response.url.startsWith('data:')) return
    const isCached = response.fromDiskCache === true || fromMemory.has(requestId)
    sources[isCached ? 'cache' : 'network'].push(response.url)
  })
  return sources
}

async function openPage(browserPage: Page, url: string): Promise<Sources> {
  const sources = await watchPictures(await browserPage.context().newCDPSession(browserPage))
  await browserPage.goto(url, { waitUntil: 'load', timeout: 120_000 })
  return sources
}

/** Natural sizes of the pictures, in order. A picture that was not decoded has 0 × 0. */
const sizesOf = (browserPage: Page): Promise<[number, number][]> =>
  browserPage.locator('img').evaluateAll((pictures) =>
    pictures.map((picture): [number, number] => {
      const { naturalWidth, naturalHeight } = picture as unknown as { naturalWidth: number; naturalHeight: number }
      return [naturalWidth, naturalHeight]
    }),
  )

const toRgb = (hex: string): number[] => [0, 2, 4].map((start) => Number.parseInt(hex.slice(start, start + 2), 16))
const SMALL = { viewport_width: 400, viewport_height: 300 }

interface Case {
  params: Params
  size: [number, number]
  /** x, y and color of a pixel. */
  pixel: [number, number, string]
}

const cases: Case[] = [
  { params: { url: page('/solid?color=336699'), ...SMALL }, size: [400, 300], pixel: [200, 150, '336699'] },
  { params: { url: page('/solid?color=cc2200'), ...SMALL, format: 'jpeg' }, size: [400, 300], pixel: [200, 150, 'cc2200'] },
  { params: { url: page('/solid?color=22aa44'), ...SMALL, format: 'webp' }, size: [400, 300], pixel: [200, 150, '22aa44'] },
  { params: { url: page('/solid?color=8844cc'), ...SMALL, format: 'avif' }, size: [400, 300], pixel: [200, 150, '8844cc'] },
  { params: { url: page('/solid?color=aa7711&note=a+b%20ü&x=1'), ...SMALL }, size: [400, 300], pixel: [200, 150, 'aa7711'] },
  { params: { url: page('/quadrants'), ...SMALL }, size: [400, 300], pixel: [390, 10, '00ff00'] },
  { params: { url: page('/quadrants'), ...SMALL, device_scale_factor: 2 }, size: [800, 600], pixel: [10, 590, '0000ff'] },
  { params: { url: page('/quadrants'), ...SMALL, image_width: 200 }, size: [200, 150], pixel: [190, 140, 'ffff00'] },
  {
    params: { url: page('/quadrants'), ...SMALL, clip_x: 150, clip_y: 100, clip_width: 60, clip_height: 70 },
    size: [60, 70],
    pixel: [55, 65, 'ffff00'],
  },
  { params: { url: page('/tall?height=1500&header=0'), ...SMALL, full_page: true }, size: [400, 1_500], pixel: [10, 1_250, bandColor(12)] },
  { params: { url: page('/transparent'), ...SMALL, selector: 'div' }, size: [100, 100], pixel: [50, 50, 'ff0000'] },
  {
    params: { url: page('/transparent'), ...SMALL, hide_selectors: ['#absent', 'div'] },
    size: [400, 300],
    pixel: [100, 100, 'ffffff'],
  },
]

t.test('a page with twelve signed links shows twelve pictures, and its second load takes them from the browser’s cache', async (t) => {
  const account = await createLinkAccount(t, 'links')
  const links = await Promise.all(cases.map(({ params }) => account.sign(params)))
  const origin = await servePages(t, { '/': links })
  const context = await (await startBrowser()).newContext({ viewport: { width: 900, height: 600 } })
  const first = await context.newPage()
  const sources = await openPage(first, origin)
  t.strictSame([sources.network.length, sources.cache.length], [cases.length, 0], 'the first load requests each picture once')
  t.strictSame(
    await sizesOf(first),
    cases.map(({ size }) => size),
  )
  for (const [index, { pixel }] of cases.entries()) {
    const [x, y, color] = pixel
    const shown = await decode(await first.locator(`#picture-${index}`).screenshot())
    t.ok(isNear(shown.at(x, y), toRgb(color), 6), `picture ${index} is #${color} at ${x},${y}, but is ${shown.at(x, y).join()}`)
  }
  await first.close()

  const before = await linkResponses()
  const second = await context.newPage()
  const cached = await openPage(second, origin)
  t.strictSame(cached.network, [], 'the second load requests nothing')
  t.equal(cached.cache.length, cases.length)
  t.strictSame(
    await sizesOf(second),
    cases.map(({ size }) => size),
  )
  t.equal(await linkResponses(), before, 'the gateways have sent nothing')
  await context.close()

  const hitsBefore = await linkResponses('hit')
  const other = await (await startBrowser()).newContext()
  const third = await other.newPage()
  t.equal((await openPage(third, origin)).network.length, cases.length, 'another visitor requests each picture')
  t.strictSame(
    await sizesOf(third),
    cases.map(({ size }) => size),
  )
  t.equal((await linkResponses('hit')) - hitsBefore, cases.length, 'which the gateways have in their cache')
  await other.close()
  await isCharged(account, cases.length)
  t.equal((await recordsOf(account)).length, cases.length, 'one screenshot for each link')
})

t.test('on_error=image shows a picture for a page that fails, and without it the browser reports an error', async (t) => {
  const account = await createLinkAccount(t, 'link-errors')
  const failing: Params = { url: page('/quadrants'), ...SMALL, selector: '#nothing', error_on_selector_not_found: true, timeout: 2_000 }
  const [shown, plain] = [await account.sign({ ...failing, on_error: 'image' }), await account.sign(failing)]
  const forged = shown.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  const origin = await servePages(t, { '/': [shown, plain, forged] })
  const context = await (await startBrowser()).newContext()
  const browserPage = await context.newPage()
  await openPage(browserPage, origin)
  const [image, none, refused] = await sizesOf(browserPage)
  t.ok(image !== undefined && image[0] > 100 && image[1] > 20, `the error has a picture of ${image?.join(' × ')}`)
  t.strictSame(none, [0, 0], 'JSON is no picture')
  t.ok(refused !== undefined && refused[0] > 100, 'a refused link has a picture too')
  await context.close()
  const response = await fetch(shown)
  t.strictSame([response.status, response.headers.get('content-type')], [422, 'image/png'])
  t.equal(response.headers.get('cache-control'), 'no-store')
  t.equal((await decode(Buffer.from(await response.arrayBuffer()))).width, image?.[0])
  t.match(await failureOf(plain), { status: 422, code: 'CAPTURE_FAILED', captureCode: 'SELECTOR_NOT_FOUND' })
  t.equal((await recordsOf(account)).length, 1, 'all requests share one failed capture')
  await isCharged(account, 0)
})

t.test('POST /screenshots with cache and the link share their pictures', async (t) => {
  const account = await createLinkAccount(t, 'link-cache')
  const create = (url: string): Promise<Answer<RecordBody>> => {
    const body = { url, options: { ...SMALL, cache: true } }
    return call('/api/v1/screenshots?wait=25', { method: 'POST', body, key: account.key })
  }
  const [posted, linked] = [page('/solid?color=445566'), page('/solid?color=665544')]

  // The operator writes the cache entry shortly after the end of a capture.
  await eventually('the cache has the picture of POST', async () => (await create(posted)).body.cached === true)
  const before = await recordsOf(account)
  const picture = await fetch(await account.sign({ url: posted, ...SMALL }))
  t.equal(picture.status, 200)
  t.ok(isNear((await decode(Buffer.from(await picture.arrayBuffer()))).at(10, 10), toRgb('445566')))
  t.equal((await recordsOf(account)).length, before.length, 'the link takes it and creates no record')

  const link = await account.sign({ url: linked, ...SMALL })
  t.equal((await fetch(link)).status, 200)
  const hits = await linkResponses('hit')
  await eventually('the cache has the picture of the link', async () => {
    await fetch(link)
    return (await linkResponses('hit')) > hits
  })
  t.match((await create(linked)).body, { cached: true }, 'POST reuses the picture of the link')
  const captured = (await recordsOf(account)).filter(({ cached }) => cached === false)
  await isCharged(account, captured.length)
})

t.test('a video element plays a link with a moving format to its end', async (t) => {
  const account = await createLinkAccount(t, 'link-videos')
  const link = await account.sign({ url: page('/solid?color=336699'), ...SMALL, format: 'mp4', video_duration: 11, video_fps: 5 })
  const { picture, seconds, ...played } = await play(await startBrowser(), link)
  t.match(played, { ended: true, width: 400, height: 300 })
  t.ok(Math.abs(seconds - 11) < 0.3, `${seconds} s`)
  t.ok(isNear((await decode(picture)).at(200, 150), toRgb('336699'), 8))
  const whole = await fetch(link)
  const bytes = Buffer.from(await whole.arrayBuffer())
  t.match([whole.status, whole.headers.get('content-type'), whole.headers.get('accept-ranges')], [200, 'video/mp4', 'bytes'])
  const part = await fetch(link, { headers: { range: 'bytes=100-199' } })
  t.match([part.status, part.headers.get('content-range')], [206, `bytes 100-199/${bytes.length}`])
  t.ok(bytes.subarray(100, 200).equals(Buffer.from(await part.arrayBuffer())))
  t.strictSame(await recordsOf(account), [], 'it is not a screenshot')
  const videos = await call<{ data: RecordBody[] }>('/api/v1/videos', { key: account.key })
  t.equal(videos.body.data.length, 1, 'all requests share one video')
  await isCharged(account, 2)
})
