import t from 'tap'
import { call, capture, download, type RecordBody } from '../../support/cluster/api-client.ts'
import { decode, isNear, type Picture } from '../../support/picture.ts'
import { page } from '../../support/servers/pages.ts'

// Part 2.2: the effect of each option and of its default, checked in the decoded picture. All captures are requested at once.

type Color = readonly number[]
const RED: Color = [255, 0, 0, 255]
const LIME: Color = [0, 255, 0, 255]
const BLUE: Color = [0, 0, 255, 255]
const WHITE: Color = [255, 255, 255, 255]
const DARK: Color = [16, 16, 16, 255]
const CLEAR: Color = [0, 0, 0, 0]
const small = { viewport_width: 400, viewport_height: 300 }

/** The fields that the tests check. */
interface OpenApi {
  components: { schemas: { CreateScreenshot: { properties: { options: { properties: object } } } } }
}

/** One capture and the expected pixels. */
interface Look {
  path: string
  options: Record<string, unknown>
  record?: object
  size?: [number, number]
  format?: string
  pixel?: [x: number, y: number, color: Color]
}

const titled = (page_title: string) => ({ status: 'completed', metadata: { page_title } })
const failedWith = (code: string) => ({ status: 'failed', error: { code } })
const fetching = `/reach/fetch?url=${encodeURIComponent(page('/image?ms=10000'))}`

const sentences: Record<string, Look[]> = {
  'spec 2.2: viewport_width is the browser viewport width, by default 1920': [
    { path: '/viewport', options: {}, record: titled('1920x1080@1'), size: [1920, 1080] },
    { path: '/viewport', options: { viewport_width: 640 }, record: titled('640x1080@1'), size: [640, 1080] },
  ],
  'spec 2.2: viewport_height is the browser viewport height, by default 1080': [
    { path: '/viewport', options: { viewport_height: 480 }, record: titled('1920x480@1'), size: [1920, 480] },
  ],
  'spec 2.2: device_scale_factor is the device pixel ratio, by default 1': [
    { path: '/viewport', options: { ...small, device_scale_factor: 2 }, record: titled('400x300@2'), size: [800, 600] },
    { path: '/viewport', options: small, record: titled('400x300@1'), size: [400, 300] },
  ],
  'spec 2.2: device is the name of a preset device emulation, by default none': [
    {
      path: '/viewport',
      options: { device: 'iPhone 15 Pro' },
      record: { options: { device: 'iPhone 15 Pro', viewport_width: 393 } },
      size: [1179, 1977],
    },
    {
      path: '/viewport',
      options: { device: 'iphone_15_pro', ...small },
      record: { options: { device: 'iPhone 15 Pro' } },
      size: [1200, 900],
    },
  ],
  'spec 2.2: format is png by default, and jpeg, png and webp are such files': [
    { path: '/solid?color=0000ff', options: small, format: 'png', pixel: [9, 9, BLUE] },
    { path: '/solid?color=0000ff', options: { ...small, format: 'png' }, format: 'png', pixel: [9, 9, BLUE] },
    { path: '/solid?color=0000ff', options: { ...small, format: 'jpeg' }, format: 'jpeg', pixel: [9, 9, BLUE] },
    { path: '/solid?color=0000ff', options: { ...small, format: 'webp' }, format: 'webp', pixel: [9, 9, BLUE] },
  ],
  'spec 2.2: omit_background makes the background transparent, by default false': [
    { path: '/transparent', options: { ...small, omit_background: true }, pixel: [300, 200, CLEAR] },
    { path: '/transparent', options: { ...small, omit_background: true }, pixel: [100, 100, RED] },
    { path: '/transparent', options: small, pixel: [300, 200, WHITE] },
  ],
  'spec 2.2: full_page captures the whole scrollable page, by default false': [
    { path: '/tall?height=3000', options: { ...small, full_page: true }, size: [400, 3000] },
    { path: '/tall?height=3000', options: small, size: [400, 300] },
  ],
  'spec 2.2: full_page_max_height limits the height of a full page, by default to 25000 pixels': [
    {
      path: '/tall?height=30000',
      options: { ...small, full_page: true, format: 'jpeg' },
      size: [400, 25_000],
      record: { truncated: true },
    },
    { path: '/tall?height=3000', options: { ...small, full_page: true, full_page_max_height: 1500 }, size: [400, 1500] },
  ],
  'spec 2.2: full_page_scroll scrolls smoothly while capturing': [
    { path: '/feed', options: { ...small, full_page: true, full_page_sweep: false }, size: [400, 900] },
    {
      path: '/feed',
      options: { ...small, full_page: true, full_page_scroll: true, full_page_max_height: 3000 },
      size: [400, 3000],
      pixel: [200, 2990, LIME],
    },
    {
      path: '/feed',
      options: { ...small, full_page: true, full_page_scroll: true, full_page_scroll_delay: 3000, full_page_max_scrolls: 3 },
      record: titled('rested'),
    },
  ],
  'spec 2.2: delay waits before the capture, by default 0': [
    { path: '/late?ms=700', options: { ...small, delay: 2500 }, pixel: [50, 50, LIME] },
    { path: '/late?ms=30000', options: small, pixel: [50, 50, WHITE] },
  ],
  'spec 2.2: timeout is the maximum wait for the page, by default 30 seconds': [
    { path: '/slow?ms=20000', options: small, pixel: [50, 50, LIME] },
    { path: '/slow?ms=45000', options: small, record: failedWith('TIMEOUT') },
    { path: '/slow?ms=20000', options: { ...small, timeout: 1000 }, record: failedWith('TIMEOUT') },
  ],
  'spec 2.2: wait_for_selector waits for an element, by default none': [
    { path: '/late?ms=1500', options: { ...small, wait_for_selector: '#late' }, pixel: [50, 50, LIME] },
    { path: '/late?ms=30000', options: small, pixel: [50, 50, WHITE] },
  ],
  'spec 2.2: wait_until load waits for the load event, which is the default': [
    { path: '/never-loads', options: { ...small, wait_until: ['load'], timeout: 2000 }, record: failedWith('TIMEOUT') },
    { path: '/never-loads', options: { ...small, timeout: 2000 }, record: failedWith('TIMEOUT') },
  ],
  'spec 2.2: wait_until domcontentloaded does not wait for embedded resources': [
    { path: '/never-loads', options: { ...small, wait_until: ['domcontentloaded'], timeout: 10_000 }, pixel: [200, 150, LIME] },
  ],
  'spec 2.2: wait_until commit waits only for the response': [
    { path: '/never-loads', options: { ...small, wait_until: ['commit'], timeout: 10_000 }, record: { status: 'completed' } },
  ],
  'spec 2.2: wait_until networkidle waits until no requests are open': [
    { path: fetching, options: { ...small, wait_until: ['networkidle'] }, pixel: [200, 150, LIME] },
    { path: fetching, options: { ...small, wait_until: ['load'] }, pixel: [200, 150, RED] },
  ],
  'spec 2.2: dark_mode enables dark mode where the site supports it, by default not': [
    { path: '/dark', options: { ...small, dark_mode: true }, pixel: [9, 9, DARK] },
    { path: '/dark', options: small, pixel: [9, 9, WHITE] },
  ],
  'spec 2.2: styles is CSS injected into the page': [
    { path: '/csp', options: { ...small, styles: 'html { background: #00ff00 !important }' }, pixel: [200, 150, LIME] },
  ],
  'spec 2.2: scripts is JavaScript executed on the page': [
    { path: '/csp', options: { ...small, scripts: "document.title = 'by script'" }, record: titled('by script') },
  ],
  'spec 2.2: click is a CSS selector clicked before capture, by default none': [
    { path: '/click', options: { ...small, click: '#go' }, record: titled('clicked'), pixel: [300, 200, LIME] },
    { path: '/click', options: small, record: titled('waiting'), pixel: [300, 200, RED] },
  ],
  'spec 2.2: further options: custom headers reach the page': [
    {
      path: '/headers',
      options: {
        ...small,
        headers: { 'x-shown': 'to the page' },
        scripts: 'document.title = JSON.parse(document.body.innerText)["x-shown"]',
      },
      record: { ...titled('to the page'), options: { headers: '***' } },
    },
  ],
  'spec 2.2: further options: cookies reach the page': [
    {
      path: '/headers',
      options: {
        ...small,
        cookies: [{ name: 'session', value: 'abc' }],
        scripts: 'document.title = JSON.parse(document.body.innerText).cookie',
      },
      record: { ...titled('session=abc'), options: { cookies: '***' } },
    },
  ],
  'spec 2.2: further options: a time zone reaches the page': [
    {
      path: '/solid',
      options: { ...small, timezone: 'Asia/Tokyo', scripts: 'document.title = Intl.DateTimeFormat().resolvedOptions().timeZone' },
      record: titled('Asia/Tokyo'),
    },
  ],
  'spec 2.2: block_ads blocks advertisements': [
    { path: '/clutter', options: small, pixel: [50, 50, RED] },
    { path: '/clutter', options: { ...small, block_ads: true }, pixel: [50, 50, LIME] },
  ],
  'spec 2.2: block_trackers blocks tracking scripts': [
    { path: '/clutter', options: small, pixel: [150, 50, RED] },
    { path: '/clutter', options: { ...small, block_trackers: true }, pixel: [150, 50, LIME] },
  ],
  'spec 2.2: block_cookie_banners dismisses cookie-consent banners': [
    { path: '/clutter', options: small, record: titled('asked'), pixel: [250, 90, RED] },
    { path: '/clutter', options: { ...small, block_cookie_banners: true }, record: titled('refused'), pixel: [250, 90, LIME] },
  ],
}

const captured = new Map<Look, Promise<RecordBody>>()
for (const look of Object.values(sentences).flat()) {
  const record = capture(page(look.path), look.options)
  record.catch(() => undefined) // the test of this record reports the error
  captured.set(look, record)
}

async function see({ record, size, format, pixel }: Look, found: RecordBody): Promise<string[]> {
  if (record && 'error' in record) return []
  const picture: Picture = await decode(await download(found))
  const faults: string[] = []
  if (size && `${size}` !== `${[picture.width, picture.height]}`) faults.push(`it is ${picture.width} × ${picture.height}`)
  if (format && format !== picture.format) faults.push(`it is a ${picture.format}`)
  const [x, y, color] = pixel ?? [0, 0, picture.at(0, 0)]
  if (!isNear(picture.at(x, y), color, picture.format === 'png' ? 0 : 12)) faults.push(`(${x}, ${y}) is ${picture.at(x, y)}`)
  return faults
}

for (const [sentence, looks] of Object.entries(sentences)) {
  t.test(sentence, { timeout: 120_000 }, async (t) => {
    for (const look of looks) {
      const found = await captured.get(look)!
      const what = `${look.path} ${JSON.stringify(look.options)}`
      t.match(found, look.record ?? { status: 'completed' }, what)
      t.strictSame(await see(look, found), [], what)
    }
  })
}

t.test('spec 2.2: a higher image_quality makes a larger file, by default 90', async (t) => {
  const url = 'http://docs.sites.svc.cluster.local/en-US/apt.html'
  const sizeOf = async (options: object) => Number((await capture(url, { format: 'jpeg', ...options })).file_size_bytes)
  const [low = 0, ninety = 0, preset = 0, high = 0] = await Promise.all(
    [{ image_quality: 10 }, { image_quality: 90 }, {}, { image_quality: 100 }].map(sizeOf),
  )
  t.ok(low < ninety && ninety < high, `${low}, ${ninety} and ${high} bytes`)
  t.equal(preset, ninety)
})

t.test('spec 2.2: omitted options have the defaults of the service', async (t) => {
  const { body } = await call<RecordBody>('/api/v1/screenshots?wait=25', { method: 'POST', body: { url: page('/quadrants') } })
  t.strictSame(body.options, { format: 'png', viewport_width: 1920, viewport_height: 1080, full_page: false })
})

t.test('spec 2.2: the service accepts 100+ further options', async (t) => {
  const { body } = await call<OpenApi>('/api/v1/openapi.json')
  const names = Object.keys(body.components.schemas.CreateScreenshot.properties.options.properties)
  t.ok(names.length >= 22 + 100, `${names.length} options`)
  for (const group of ['geolocation_latitude', 'headers', 'cookies', 'proxy']) t.ok(names.includes(group), group)
})
