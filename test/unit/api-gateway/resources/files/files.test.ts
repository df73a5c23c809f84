import t from 'tap'
import { buildMetrics } from '../../../../../api-gateway/src/metrics/metrics.ts'
import { buildDocument } from '../../../../../api-gateway/src/openapi/document.ts'
import { Downloads } from '../../../../../api-gateway/src/resources/files/downloads.ts'
import { contentTypeOf } from '../../../../../api-gateway/src/resources/files/file-headers.ts'
import { artifactsOf } from '../../../../../crds/src/options/artifacts.ts'
import type { CaptureOptions } from '../../../../../crds/src/options/catalog.ts'
import { extraFilesOptions } from '../../../../../crds/src/options/output/extra-files.ts'
import { FileFormat } from '../../../../../crds/src/options/output/image.ts'
import { ThumbnailFormat } from '../../../../../crds/src/options/output/image-processing.ts'
import { aGateway, aScreenshot, NOW, SCREENSHOT_ID } from '../../fakes.ts'

interface Response {
  headers: Record<string, unknown>
  content?: Record<string, unknown>
}
// biome-ignore lint/suspicious/noExplicitAny: a path through the document
const operation = (buildDocument().paths as any)['/files/users/{account}/{file}'].get
const responses = operation.responses as Record<string, Response>

const saved: CaptureOptions = Object.fromEntries(Object.keys(extraFilesOptions).map((name) => [name, true]))
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

/** A gateway with a stored picture, asked for it under its link. */
async function aFile(changes: Parameters<typeof aGateway>[0] = {}) {
  const { app, headers, screenshots, files } = aGateway(changes)
  screenshots.put(aScreenshot({ phase: 'Completed', status: { result: { etag: 'abc' } } }))
  files.objects.set(`users/acme/${SCREENSHOT_ID}.png`, Buffer.from('picture'))
  const { download_url: link } = (await app.inject({ url: `/v1/screenshots/${SCREENSHOT_ID}`, headers })).json()
  const { pathname, search } = new URL(link)
  return (method: 'GET' | 'HEAD', more: Record<string, string> = {}) => app.inject({ method, url: pathname + search, headers: more })
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
    const response = await (await aFile())(method, headers)
    t.strictSame([response.statusCode, response.body], [status, body])
    const listed = Object.keys(responses[status]?.headers ?? {}).map((name) => name.toLowerCase())
    const sent = Object.keys(response.headers).filter((name) => !ANYWHERE.includes(name))
    t.strictSame(sent.sort(), listed.sort())
  })
}

t.test('GET /files responds with 304 to If-Modified-Since, unless If-None-Match or the date says otherwise', async (t) => {
  const request = await aFile()
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
      t.equal((await request(method, headers)).statusCode, status, `${method} ${JSON.stringify(headers)}`)
})

for (const { what, status, headers, max } of [
  { what: 'a range beyond the file', status: 416, headers: { range: 'bytes=99-' }, max: 2 },
  { what: 'one file too many', status: 503, headers: {}, max: 0 },
]) {
  t.test(`a refusal of ${what} is not described as the file`, async (t) => {
    const response = await (await aFile({ downloads: new Downloads({ max, metrics: buildMetrics(), now: () => 0 }) }))('GET', headers)
    t.equal(response.statusCode, status)
    t.notMatch(response.headers, { 'cache-control': /max-age/ })
    for (const name of ['etag', 'content-disposition', 'last-modified']) t.notOk(name in response.headers, name)
  })
}
