import t from 'tap'
import { buildMetrics } from '../../../../../api-gateway/src/metrics/metrics.ts'
import { buildDocument } from '../../../../../api-gateway/src/openapi/document.ts'
import { Downloads } from '../../../../../api-gateway/src/resources/files/downloads.ts'
import { contentTypeOf } from '../../../../../api-gateway/src/resources/files/file-headers.ts'
import { signLink } from '../../../../../crds/src/crypto/signatures.ts'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import type { CaptureResult } from '../../../../../crds/src/kinds/screenshot.ts'
import { artifactsOf } from '../../../../../crds/src/options/artifacts.ts'
import type { CaptureOptions } from '../../../../../crds/src/options/catalog.ts'
import { extraFilesGroup } from '../../../../../crds/src/options/output/extra-files.ts'
import { FileFormat, ThumbnailFormat } from '../../../../../crds/src/options/output/formats.ts'
import { aGateway, aScreenshot, NOW, SCREENSHOT_ID } from '../../fakes.ts'

interface Response {
  headers: Record<string, unknown>
  content?: Record<string, unknown>
}
// biome-ignore lint/suspicious/noExplicitAny: a path through the document
const operation = (buildDocument().paths as any)['/files/users/{account}/{file}'].get
const responses = operation.responses as Record<string, Response>

const saved: CaptureOptions = Object.fromEntries(Object.keys(extraFilesGroup.options).map((name) => [name, true]))
const extensions = [
  ...FileFormat.options,
  ...ThumbnailFormat.options
    .flatMap((thumbnailFormat) => artifactsOf({ ...saved, thumbnailWidth: 16, thumbnailFormat }))
    .map(({ extension }) => extension),
]

t.test('OpenAPI allows under /files exactly the files that a capture can have', async (t) => {
  const { schema } = operation.parameters.find(({ name }: { name: string }) => name === 'file')
  const pattern = new RegExp(schema.pattern)
  const others = ['jpg', 'mov', 'thumb.avif', 'thumb', 'htmlx', 'consoleXjson', '']
  t.strictSame(
    [...extensions, ...others].filter((extension) => pattern.test(`scr_7yztsh6vzw7j4q0n9x2c5d8e1f.${extension}`)),
    extensions,
  )
})

t.test('OpenAPI lists the type of every file under /files', async (t) => {
  const types = new Set(extensions.map((extension) => contentTypeOf(extension).replace(/;.*/, '')))
  const listed = ['200', '206'].map((status) => new Set(Object.keys(responses[status]?.content ?? {})))
  t.strictSame(
    listed.map((found) => [...types.difference(found)]),
    [[], []],
  )
  t.notOk(listed.some((found) => found.has('application/octet-stream')))
})

const ring = { current: 'a', keys: { a: Buffer.alloc(32, 1).toString('base64') } }
const inAnHour = Math.floor(NOW.getTime() / 1_000) + 3_600
const PICTURE = 'picture'

/** A gateway with a completed screenshot and its files. `path` is the link to the picture, `read` requests a link. */
async function aFile(changes: Parameters<typeof aGateway>[0] = {}, options: CaptureOptions = {}, result: CaptureResult = {}) {
  const gateway = aGateway({ keyRing: () => ring, ...changes })
  const { app, call, screenshots, files } = gateway
  screenshots.put(aScreenshot({ options, phase: 'Completed', status: { result: { etag: 'abc', ...result } } }))
  const key = `users/acme/${SCREENSHOT_ID}.${options.format ?? 'png'}`
  files.objects.set(key, Buffer.from(PICTURE))
  const record = (await call('GET', `/screenshots/${SCREENSHOT_ID}`)).body
  const pathOf = (link: string) => link.replace('https://shots.example', '')
  const read = (link: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    app.inject({ method, url: pathOf(link), headers })
  const sign = (of: string, more: { expires?: number; attachment?: string } = {}) => signLink({ key: of, expires: inAnHour, ...more }, ring)
  return { ...gateway, key, record, path: pathOf(record.download_url), read, sign }
}

/** What every server sends, whatever is asked for. */
const ANYWHERE = ['connection', 'content-type', 'date', 'keep-alive', 'vary']

const requests = [
  { what: 'the file', method: 'GET', headers: {}, status: 200, body: 'picture' },
  { what: 'its head', method: 'HEAD', headers: {}, status: 200, body: '' },
  { what: 'a part', method: 'GET', headers: { range: 'bytes=1-3' }, status: 206, body: 'ict' },
  { what: 'a known file', method: 'GET', headers: { 'if-none-match': '"abc"' }, status: 304, body: '' },
] as const
for (const { what, method, headers, status, body } of requests) {
  t.test(`OpenAPI lists the headers under /files of ${what}`, async (t) => {
    const { read, path } = await aFile()
    const response = await read(path, headers, method)
    t.strictSame([response.statusCode, response.body], [status, body])
    const sent = Object.keys(response.headers).filter((name) => !ANYWHERE.includes(name))
    const listed = Object.keys(responses[status]?.headers ?? {}).map((name) => name.toLowerCase())
    t.strictSame(sent.sort(), listed.sort())
  })
}

t.test('a link serves the file with its type, and forbids browsers to guess another', async (t) => {
  const { read, path } = await aFile({}, { format: 'jpeg' })
  const safe = { 'x-content-type-options': 'nosniff', 'content-security-policy': /^sandbox/, 'cache-control': /^private/ }
  const described = { 'content-length': '7', 'accept-ranges': 'bytes', 'content-disposition': `inline; filename="${SCREENSHOT_ID}.jpeg"` }
  for (const [method, body] of [
    ['GET', PICTURE],
    ['HEAD', ''],
  ] as const)
    t.match(await read(path, {}, method), { statusCode: 200, body, headers: { 'content-type': 'image/jpeg', ...safe, ...described } })
})

const ranges: [headers: Record<string, string>, status: number, body: string, contentRange?: string][] = [
  [{ range: 'bytes=0-2' }, 206, 'pic', 'bytes 0-2/7'],
  [{ range: 'bytes=5-' }, 206, 're', 'bytes 5-6/7'],
  [{ range: 'bytes=0-1,5-6' }, 200, PICTURE],
  [{ range: 'bytes=0-2', 'if-range': '"abc"' }, 206, 'pic', 'bytes 0-2/7'],
  [{ range: 'bytes=0-2', 'if-range': '"another"' }, 200, PICTURE],
]
t.test('a link serves ranges, unless If-Range names another file', async (t) => {
  const { read, path } = await aFile()
  for (const [headers, statusCode, body, contentRange] of ranges) {
    const response = await read(path, headers)
    t.strictSame([response.statusCode, response.body, response.headers['content-range']], [statusCode, body, contentRange])
  }
  const beyond = await read(path, { range: 'bytes=7-' })
  t.match(beyond, { statusCode: 416, headers: { 'content-range': 'bytes */7' } })
  t.equal(beyond.json().error.code, 'RANGE_NOT_SATISFIABLE')
})

t.test('GET /files responds with 304 to If-Modified-Since, unless If-None-Match or the date says otherwise', async (t) => {
  const { read, path } = await aFile()
  const since = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000).toUTCString()
  const cases: [headers: Record<string, string>, status: number][] = [
    [{ 'if-modified-since': since(0) }, 304],
    [{ 'if-modified-since': since(60) }, 304],
    [{ 'if-modified-since': since(-1) }, 200],
    [{ 'if-modified-since': 'yesterday' }, 200],
    [{ 'if-modified-since': since(60), 'if-none-match': '"other"' }, 200],
    [{ 'if-modified-since': since(-60), 'if-none-match': '"abc"' }, 304],
    [{ 'if-modified-since': since(0), range: 'bytes=99-' }, 304],
  ]
  for (const method of ['GET', 'HEAD'] as const)
    for (const [headers, status] of cases)
      t.equal((await read(path, headers, method)).statusCode, status, `${method} ${JSON.stringify(headers)}`)
})

t.test('a link with any change is rejected', async (t) => {
  const { read, key, path, sign } = await aFile()
  const changed = (name: string, value?: string) => {
    const url = new URL(path, 'https://shots.example')
    if (value === undefined) url.searchParams.delete(name)
    else url.searchParams.set(name, value)
    return url.pathname + url.search
  }
  const named = sign(key, { attachment: 'täglich.png' })
  t.match(await read(named), { statusCode: 200, headers: { 'content-disposition': /^attachment; filename="t_glich.png"; filename\*=/ } })
  for (const forged of [
    changed('expires', String(inAnHour + 999_999)),
    changed('expires', 'soon'),
    changed('attachment', 'evil.html'),
    changed('attachment', ''),
    `${path}&attachment`,
    `${path}&attachment=&attachment=`,
    named.replace('glich', 'glick'),
    sign(key, { attachment: 'x'.repeat(129) }),
    changed('signature'),
    changed('signature', 'a.'),
    path.replace(SCREENSHOT_ID, newId('scr', NOW)),
    sign(key, { expires: inAnHour - 3_601 }),
  ]) {
    const response = await read(forged)
    t.equal(response.statusCode, 403, forged)
    t.equal(response.json().error.code, 'LINK_INVALID')
  }
})

t.test('additional files have their own links, and only requested files have one', async (t) => {
  const artifacts = (['thumbnail', 'html'] as const).map((type) => ({ type, fileSizeBytes: 5, etag: 'abc' }))
  const { files, record, read, path, sign } = await aFile({}, { thumbnailWidth: 100, saveHtml: true }, { artifacts })
  for (const extension of ['thumb.png', 'html', 'txt']) files.objects.set(`users/acme/${SCREENSHOT_ID}.${extension}`, Buffer.from('extra'))
  t.match(record.artifacts, [
    { type: 'thumbnail', file_size_bytes: 5 },
    { type: 'html', file_size_bytes: 5 },
  ])
  const [thumbnail, html] = await Promise.all(record.artifacts.map(({ download_url }: { download_url: string }) => read(download_url)))
  t.match(thumbnail, { statusCode: 200, body: 'extra', headers: { 'content-type': 'image/png' } })
  const disposition = `attachment; filename="${SCREENSHOT_ID}.html"`
  t.match(html.headers, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': /^sandbox/ })
  t.equal(html.headers['content-disposition'], disposition, 'HTML of other sites is never displayed under the gateway’s origin')
  const stray = sign(`users/acme/${SCREENSHOT_ID}.txt`)
  t.equal((await read(stray)).statusCode, 404, 'it exists and was not requested')
  t.equal((await read(path)).statusCode, 200)
})

t.test('a link serves only the file that the record describes', async (t) => {
  const ignored: string[] = []
  const report = ({ key }: { key: string }) => void ignored.push(key)
  for (const result of [{ etag: 'other' }, { fileSizeBytes: 8 }]) {
    const { read, path, key } = await aFile({ report }, {}, result)
    t.equal((await read(path)).statusCode, 404)
    t.strictSame(ignored.splice(0), [key])
  }
  const { files, read, sign, path } = await aFile({ report })
  files.objects.set(`users/acme/${SCREENSHOT_ID}.html`, Buffer.from('<script>alert(1)</script>'))
  files.objects.set(`users/other/${SCREENSHOT_ID}.png`, Buffer.from('foreign'))
  const foreign = [`users/other/${SCREENSHOT_ID}.png`, 'records/acme/00000/tombstones/x']
  for (const key of [`users/acme/${SCREENSHOT_ID}.html`, 'users/acme/x.png', ...foreign])
    t.equal((await read(sign(key))).statusCode, 404, key)
  // The path that arrives is not the one that is signed.
  t.equal((await read(sign(`users/acme/../other/${SCREENSHOT_ID}.png`))).statusCode, 403)
  t.equal((await read(path)).statusCode, 200, 'control')
  t.strictSame(ignored, [])
})

t.test('a link to a deleted file returns 410 while its record exists, and 404 afterwards', async (t) => {
  const { files, screenshots, read, path } = await aFile()
  files.objects.clear()
  const gone = await read(path)
  t.match([gone.statusCode, gone.json().error.code], [410, 'EXPIRED'])
  screenshots.remove()
  t.equal((await read(path)).statusCode, 404)
})

t.test('GET /screenshots/:id/download redirects to the file, or returns the reason why there is none', async (t) => {
  const { call, files, screenshots, record } = await aFile()
  const download = () => call('GET', `/screenshots/${SCREENSHOT_ID}/download`)
  t.match(await download(), { status: 302, headers: { location: record.download_url, 'cache-control': /no-store/ } })
  files.objects.clear()
  t.match(await download(), { status: 410, body: { error: { code: 'EXPIRED' } } })
  screenshots.put(aScreenshot({ phase: 'Failed', status: { result: { error: { code: 'TIMEOUT', message: 'too slow' } } } }))
  t.match(await download(), { status: 422, body: { error: { code: 'CAPTURE_FAILED', details: { code: 'TIMEOUT' } } } })
  screenshots.put(aScreenshot({}))
  t.match(await download(), { status: 409, headers: { 'retry-after': '2' }, body: { error: { code: 'NOT_READY' } } })
})

for (const { what, status, headers, max } of [
  { what: 'a range beyond the file', status: 416, headers: { range: 'bytes=99-' }, max: 2 },
  { what: 'one file too many', status: 503, headers: {}, max: 0 },
]) {
  t.test(`a refusal of ${what} is not described as the file`, async (t) => {
    const { read, path } = await aFile({ downloads: new Downloads({ max, metrics: buildMetrics(), now: () => 0 }) })
    const response = await read(path, headers)
    t.equal(response.statusCode, status)
    t.notMatch(response.headers, { 'cache-control': /max-age/ })
    for (const name of ['etag', 'content-disposition', 'last-modified']) t.notOk(name in response.headers, name)
  })
}
