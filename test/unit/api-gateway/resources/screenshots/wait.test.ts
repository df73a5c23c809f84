import t from 'tap'
import { readQuery } from '../../../../../api-gateway/src/http/query.ts'
import { planResponse, waitQuery } from '../../../../../api-gateway/src/resources/screenshots/wait.ts'
import { screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { objectKey } from '../../../../../crds/src/records/storage-keys.ts'
import { eventually } from '../../../../support/eventually.ts'
import { completedStatus, failedStatus } from '../../../../support/fakes/builders.ts'
import { aGateway } from '../../fakes.ts'

type Asked = Parameters<typeof planResponse>[0]

/** A request, the kind that Accept prefers and `wait`, and what follows: seconds and body. */
const plans: [Asked['request'], Asked['preferred'], number | undefined, number, ReturnType<typeof planResponse>['body']][] = [
  [{}, 'record', undefined, 0, 'record'],
  [{}, 'record', 7, 7, 'record'],
  [{ async: false }, 'record', undefined, 25, 'record'],
  [{}, 'file', undefined, 25, 'file'],
  [{ async: true }, 'file', undefined, 0, 'file'],
  [{ async: true }, 'file', 3, 3, 'file'],
  [{ responseType: 'by_format' }, 'record', undefined, 25, 'file'],
  [{ responseType: 'json', async: false }, 'file', undefined, 25, 'record'],
  [{ responseType: 'empty', async: false }, 'file', undefined, 25, 'empty'],
]
for (const [request, preferred, given, waitSeconds, body] of plans) {
  t.test(`planResponse for ${JSON.stringify({ request, preferred, wait: given })}`, async (t) => {
    const asked = { request, preferred, ...(given === undefined ? {} : { waitSeconds: given }) }
    t.strictSame(planResponse(asked), { waitSeconds, body })
  })
}

t.test('waitQuery takes 1 to 25 whole seconds', async (t) => {
  t.strictSame(readQuery({}, waitQuery), { wait: undefined })
  t.strictSame(readQuery({ wait: '25' }, waitQuery), { wait: 25 })
  for (const query of [{ wait: '0' }, { wait: '26' }, { wait: '1.5' }, { wait: '' }, { wait: ['1', '2'] }, { wiat: '5' }])
    t.throws(() => readQuery(query, waitQuery), { code: 'VALIDATION_ERROR' }, JSON.stringify(query))
})

const picture = 'a picture'
const url = 'https://example.com/'

/** Sends a request that creates a capture, and ends the capture while the request is held. */
async function whileHeld(path: string, body: object, headers: Record<string, string>, end: (shot: Screenshot) => Screenshot['status']) {
  const { call, screenshots, files } = aGateway()
  const pending = call('POST', path, { url, ...body }, headers)
  const shot = await eventually('the capture is created', async () => [...screenshots.objects.values()][0])
  const id = screenshotIdOf(shot.metadata)
  files.objects.set(objectKey('acme', id, shot.spec.options?.format ?? 'png'), Buffer.from(picture))
  screenshots.put({ ...shot, status: end(shot)! })
  return { ...(await pending), id }
}
const result = { ...completedStatus().result, etag: 'abc', fileSizeBytes: picture.length }
const completes = () => completedStatus({ result })
const fails = () => failedStatus()

t.test('POST /screenshots responds with the record when a capture ends while the request is held', async (t) => {
  for (const [path, body] of [
    ['/screenshots?wait=20', {}],
    ['/screenshots', { async: false }],
    ['/screenshots', { options: { async: false } }],
  ] as const) {
    const held = await whileHeld(path, body, {}, completes)
    t.match(held, { status: 200, body: { id: held.id, status: 'completed', file_size_bytes: picture.length } })
  }
})

t.test('POST /screenshots and /videos respond with the file for Accept: image/* and video/*, or response_type by_format', async (t) => {
  for (const [path, body, accept, type] of [
    ['/screenshots', { options: { format: 'webp' } }, 'image/*', 'image/webp'],
    ['/screenshots', { options: { format: 'webp' }, async: false, response_type: 'by_format' }, '*/*', 'image/webp'],
    ['/videos', {}, 'video/mp4', 'video/mp4'],
  ] as const) {
    const held = await whileHeld(path, body, { accept }, completes)
    t.match(held, { status: 200, body: picture })
    t.match(held.headers, { 'content-type': type, location: `/api/v1${path}/${held.id}` })
  }
})

t.test('POST /screenshots responds with 422 in place of the file when the capture fails, and with the record otherwise', async (t) => {
  const failed = await whileHeld('/screenshots', { async: false, response_type: 'by_format' }, {}, fails)
  t.match(failed, { status: 422, body: { error: { code: 'CAPTURE_FAILED', details: { id: failed.id, code: 'DNS_FAILED' } } } })
  t.equal(failed.headers.location, `/api/v1/screenshots/${failed.id}`)
  const recorded = await whileHeld('/screenshots?wait=20', {}, {}, fails)
  t.match(recorded, { status: 200, body: { status: 'failed', error: { code: 'DNS_FAILED' }, download_url: null } })
})

t.test('POST /screenshots with response_type empty returns only the Location of the record', async (t) => {
  const held = await whileHeld('/screenshots', { async: false, response_type: 'empty' }, {}, completes)
  t.match(held, { status: 204, body: undefined, headers: { location: `/api/v1/screenshots/${held.id}` } })
})

t.test('POST /screenshots?wait= responds with 202 and the fields of a creation when time is up', async (t) => {
  const { call, screenshots } = aGateway()
  screenshots.waitUntilFinished = async ({ metadata }, milliseconds) => {
    t.equal(milliseconds, 1_000)
    return screenshots.objects.get(screenshotIdOf(metadata))
  }
  const { status, body } = await call('POST', '/screenshots?wait=1', { url })
  t.equal(status, 202)
  t.strictSame(Object.keys(body), ['id', 'url', 'status', 'options', 'created_at', 'estimated_time'])
})
