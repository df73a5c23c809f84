import t from 'tap'
import { bandColor } from '../sites/src/drawn.ts'
import { absolute, call, capture, download, type RecordBody } from '../support/cluster/api-client.ts'
import { cluster } from '../support/cluster/environment.ts'
import { decode, isNear, type Picture } from '../support/picture.ts'
import { page } from '../support/servers/pages.ts'

// The main path through all components. Each test checks the effect of an option in the decoded picture.

const RED = [255, 0, 0, 255]
const LIME = [0, 255, 0, 255]
const BLUE = [0, 0, 255, 255]
const YELLOW = [255, 255, 0, 255]
const WHITE = [255, 255, 255, 255]
const BLACK = [0, 0, 0, 255]
const DARK = [16, 16, 16, 255]
const small = { viewport_width: 400, viewport_height: 300 }

interface Case {
  name: string
  path: string
  options: Record<string, unknown>
  size: [number, number]
  format?: string
  pixels: [x: number, y: number, color: readonly number[]][]
  record?: Record<string, unknown>
}

const quarters: Case['pixels'] = [
  [10, 10, RED],
  [390, 10, LIME],
  [10, 290, BLUE],
  [390, 290, YELLOW],
]

const cases: Case[] = [
  {
    name: 'the default window is 1920 × 1080, png',
    path: '/quadrants',
    options: {},
    size: [1920, 1080],
    pixels: [
      [5, 5, RED],
      [1915, 1075, YELLOW],
    ],
  },
  { name: 'the window has the requested size', path: '/quadrants', options: small, size: [400, 300], pixels: quarters },
  {
    name: 'device_scale_factor doubles the pixels',
    path: '/quadrants',
    options: { ...small, device_scale_factor: 2 },
    size: [800, 600],
    pixels: [
      [790, 10, LIME],
      [10, 590, BLUE],
    ],
  },
  { name: 'jpeg', path: '/quadrants', options: { ...small, format: 'jpeg' }, size: [400, 300], format: 'jpeg', pixels: quarters },
  { name: 'webp', path: '/quadrants', options: { ...small, format: 'webp' }, size: [400, 300], format: 'webp', pixels: quarters },
  {
    name: 'omit_background keeps unpainted areas transparent',
    path: '/transparent',
    options: { ...small, omit_background: true },
    size: [400, 300],
    pixels: [
      [100, 100, RED],
      [300, 200, [0, 0, 0, 0]],
    ],
  },
  {
    name: 'dark_mode requests the dark color scheme',
    path: '/dark',
    options: { ...small, dark_mode: true },
    size: [400, 300],
    pixels: [[9, 9, DARK]],
  },
  { name: 'without dark_mode the scheme is light', path: '/dark', options: small, size: [400, 300], pixels: [[9, 9, WHITE]] },
  {
    name: 'wait_for_selector waits for an element that appears late',
    path: '/late?ms=1500',
    options: { ...small, wait_for_selector: '#late' },
    size: [400, 300],
    pixels: [[50, 50, LIME]],
  },
  { name: 'delay waits', path: '/late?ms=700', options: { ...small, delay: 2500 }, size: [400, 300], pixels: [[50, 50, LIME]] },
  { name: 'click clicks', path: '/click', options: { ...small, click: '#go' }, size: [400, 300], pixels: [[200, 150, LIME]] },
  {
    name: 'styles apply even under a strict content security policy',
    path: '/csp',
    options: { ...small, styles: 'html { background: #00ff00 !important }' },
    size: [400, 300],
    pixels: [[200, 150, LIME]],
  },
  {
    name: 'scripts run even under a strict content security policy',
    path: '/csp',
    options: { ...small, scripts: "document.documentElement.style.background = '#0000ff'" },
    size: [400, 300],
    pixels: [[200, 150, BLUE]],
  },
  {
    name: 'wait_until waits for all listed events',
    path: '/quadrants',
    options: { ...small, wait_until: ['domcontentloaded', 'networkidle'] },
    size: [400, 300],
    pixels: quarters,
  },
  {
    name: 'a page with an error status is captured, and the record has the status',
    path: '/status/404',
    options: small,
    size: [400, 300],
    pixels: [[200, 150, [128, 128, 128, 255]]],
    record: { metadata: { http_status: 404 } },
  },
  {
    name: 'a redirect is followed, and the record has the final URL',
    path: `/redirect?to=${encodeURIComponent('/solid?color=0000ff')}`,
    options: small,
    size: [400, 300],
    pixels: [[200, 150, BLUE]],
    record: { metadata: { final_url: page('/solid?color=0000ff') } },
  },
  { name: '200 alerts do not block the capture', path: '/alerts', options: small, size: [400, 300], pixels: [[200, 150, LIME]] },
  { name: '20 windows do not block the capture', path: '/popups', options: small, size: [400, 300], pixels: [[200, 150, LIME]] },
]

const looksLike = (picture: Picture, pixels: Case['pixels'], tolerance: number): string[] =>
  pixels.filter(([x, y, color]) => !isNear(picture.at(x, y), color, tolerance)).map(([x, y]) => `(${x}, ${y}) is ${picture.at(x, y)}`)

for (const { name, path, options, size, format = 'png', pixels, record: wanted = {} } of cases) {
  t.test(name, async (t) => {
    const record = await capture(page(path), options)
    t.equal(record.status, 'completed', JSON.stringify(record.error))
    const file = await download(record)
    const picture = await decode(file)
    t.strictSame([picture.format, picture.width, picture.height], [format, ...size])
    t.strictSame(looksLike(picture, pixels, format === 'png' ? 0 : 12), [])
    t.match(record, { ...wanted, width: size[0], height: size[1], file_size_bytes: file.length, format, attempts: 1 })
  })
}

t.test('image_quality changes the size of a jpeg', async (t) => {
  const url = 'http://docs.sites.svc.cluster.local/en-US/apt.html'
  const [low, high] = await Promise.all([10, 95].map((image_quality) => capture(url, { format: 'jpeg', image_quality })))
  t.ok(Number(low?.file_size_bytes) * 2 < Number(high?.file_size_bytes), `${low?.file_size_bytes} and ${high?.file_size_bytes} bytes`)
})

for (const format of ['png', 'jpeg']) {
  t.test(`full_page captures 25,000 px whole as ${format}, with the fixed header once`, async (t) => {
    const record = await capture(page('/tall?height=30000'), { viewport_width: 400, viewport_height: 600, full_page: true, format })
    t.equal(record.status, 'completed', JSON.stringify(record.error))
    const picture = await decode(await download(record))
    t.strictSame([picture.width, picture.height], [400, 25_000])
    t.equal(record.truncated, true, 'the page is taller than full_page_max_height')
    const tolerance = format === 'png' ? 0 : 12
    const colorOf = (n: number): number[] => [0, 2, 4].map((at) => Number.parseInt(bandColor(n).slice(at, at + 2), 16))
    const wrong = Array.from({ length: 249 }, (_, n) => n + 1).filter((n) => !isNear(picture.at(100, n * 100 + 50), colorOf(n), tolerance))
    t.strictSame(wrong, [], 'bands of the wrong color')
    t.ok(isNear(picture.at(100, 25), BLACK, tolerance), 'the header is at the top')
    const again = Array.from({ length: 249 }, (_, n) => (n + 1) * 100 + 25).filter((y) => isNear(picture.at(100, y), BLACK, tolerance))
    t.strictSame(again, [], 'the header appears only once')
  })
}

t.test('full_page loads lazy images down the page', async (t) => {
  const record = await capture(page('/lazy?count=8'), { viewport_width: 400, viewport_height: 600, full_page: true })
  const picture = await decode(await download(record))
  const missing = Array.from({ length: 8 }, (_, n) => n * 1000 + 100).filter((y) => !isNear(picture.at(100, y), LIME))
  t.strictSame(missing, [])
})

t.test('one request with Accept: image/* returns the picture itself', async (t) => {
  const response = await fetch(absolute('/api/v1/screenshots'), {
    method: 'POST',
    headers: { authorization: `Bearer ${cluster.apiKey}`, 'content-type': 'application/json', accept: 'image/*' },
    body: JSON.stringify({ url: page('/quadrants'), options: small }),
  })
  t.equal(response.status, 200)
  t.equal(response.headers.get('content-type'), 'image/png')
  const picture = await decode(Buffer.from(await response.arrayBuffer()))
  t.strictSame(looksLike(picture, quarters, 0), [])
})

t.test('?wait= returns the full record', async (t) => {
  const { status, body } = await call<RecordBody>('/api/v1/screenshots?wait=25', { method: 'POST', body: { url: page('/quadrants') } })
  t.equal(status, 200)
  t.match(body, { status: 'completed', storage_path: `users/default/${body.id}.png` })
})

t.test('a failed capture returns 422 with the code when a picture was requested', async (t) => {
  const { status, body } = await call('/api/v1/screenshots', {
    method: 'POST',
    body: { url: page('/hang-up') },
    headers: { accept: 'image/*' },
  })
  t.equal(status, 422)
  t.match(body, { success: false, error: { code: 'CAPTURE_FAILED' } })
})

t.test('a page of the Debian handbook is captured', async (t) => {
  const record = await capture('http://docs.sites.svc.cluster.local/en-US/apt.html', { full_page: true })
  t.equal(record.status, 'completed', JSON.stringify(record.error))
  t.match(record, { metadata: { http_status: 200, page_title: /APT/i } })
  const picture = await decode(await download(record))
  t.equal(picture.width, 1920)
  t.ok(picture.height > 1080)
})
