import t from 'tap'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { contradictions } from '../../../../../crds/src/options/contradictions.ts'
import { videoContradictions } from '../../../../../crds/src/options/video-contradictions.ts'
import { renameKeys, toSnakeCase } from '../../../../../crds/src/text/snake-case.ts'
import { completedStatus } from '../../../../support/fakes/builders.ts'
import { CONTRADICTION_CASES } from '../../../../support/sources/contradiction-cases.ts'
import { aGateway, aScreenshot, NOW } from '../../fakes.ts'

const url = 'https://example.com/'
type Gateway = ReturnType<typeof aGateway>

async function call({ app, headers }: Gateway, method: 'GET' | 'POST' | 'DELETE', path: string, payload?: object, more = {}) {
  const response = await app.inject({ method, url: `/v1${path}`, headers: { ...headers, ...more }, ...(payload ? { payload } : {}) })
  const isJson = String(response.headers['content-type']).startsWith('application/json')
  return { status: response.statusCode, headers: response.headers, body: isJson ? response.json() : response.body }
}
const specsOf = ({ screenshots }: Gateway) => [...screenshots.objects.values()].map(({ spec }) => spec)
const usedOf = ({ quota }: Gateway) => quota.usages.get('acme')?.status?.used ?? 0
const recorded = { ...completedStatus().result, durationMilliseconds: 5_000, fps: 30, frames: 150 }
const put = ({ screenshots }: Gateway, options: Screenshot['spec']['options'], id: string) =>
  screenshots.put(aScreenshot({ id, ...(options ? { options } : {}), status: { ...completedStatus(), result: recorded } }))
const idAt = (seconds: number) => newId('scr', new Date(NOW.getTime() - seconds * 1_000))

t.test('POST /videos creates a Screenshot that moves, an mp4 by default, and leads to /videos', async (t) => {
  const gateway = aGateway()
  const { status, headers, body } = await call(gateway, 'POST', '/videos', { url })
  t.equal(status, 202)
  t.match(body, { status: 'pending', options: { format: 'mp4' } })
  t.equal(headers.location, `/api/v1/videos/${body.id}`)
  t.match(await call(gateway, 'POST', '/videos', { url, options: { format: 'gif', video_fps: 10 } }), { status: 202 })
  t.match(specsOf(gateway), [{ options: { format: 'mp4' } }, { options: { format: 'gif', videoFps: 10 } }])
})

t.test('POST /videos reserves one unit for each 10 seconds, and refuses what the quota does not cover', async (t) => {
  const gateway = aGateway()
  gateway.quota.set('acme', { limit: 16 })
  const post = (video_duration: number, key?: string) =>
    call(gateway, 'POST', '/videos', { url, options: { video_duration } }, key ? { 'idempotency-key': key } : {})
  await post(10)
  t.equal(usedOf(gateway), 1)
  await post(101, 'again')
  t.equal(usedOf(gateway), 12)
  t.equal((await post(101, 'again')).headers['idempotent-replayed'], 'true')
  t.equal(usedOf(gateway), 12, 'a repetition costs nothing')
  const refused = await post(41)
  t.match(refused, { status: 429, body: { error: { code: 'USAGE_LIMIT_REACHED', details: { limit: 16, used: 12, cost: 5 } } } })
  t.match(refused.body.error.message, 'the request costs 5 units')
  t.equal(refused.headers['x-quota-remaining'] !== undefined, true)
  t.equal((await post(40)).status, 202)
  t.equal(usedOf(gateway), 16)
})

t.test('a key of POST /screenshots does not stand for a video', async (t) => {
  const gateway = aGateway()
  const more = { 'idempotency-key': 'one' }
  t.equal((await call(gateway, 'POST', '/screenshots', { url }, more)).status, 202)
  t.match(await call(gateway, 'POST', '/videos', { url }, more), { status: 422, body: { error: { code: 'IDEMPOTENCY_KEY_REUSED' } } })
})

const misplaced: [string, object, string][] = [
  ['/screenshots', { url, options: { format: 'mp4' } }, 'mp4 is a video: use POST /videos'],
  ['/screenshots/batch', { urls: [url], options: { format: 'webm' } }, 'webm is a video: use POST /videos'],
  ['/videos', { url, options: { format: 'pdf' } }, 'pdf is not a video: use mp4, webm or gif, or POST /screenshots'],
]
for (const [path, body, message] of misplaced) {
  t.test(`POST ${path} refuses ${JSON.stringify(body)}`, async (t) => {
    const gateway = aGateway()
    t.match(await call(gateway, 'POST', path, body), { status: 400, body: { error: { message, details: [{ path: 'options.format' }] } } })
    t.equal(specsOf(gateway).length, 0)
  })
}

const malformed: [object, string][] = [
  [{ url, options: { video_duration: 0 } }, 'options.video_duration'],
  [{ url, options: { video_duration: 121 } }, 'options.video_duration'],
  [{ url, options: { video_duration: 2.5 } }, 'options.video_duration'],
  [{ url, options: { video_duration: '5' } }, 'options.video_duration'],
  [{ url, options: { video_fps: 4 } }, 'options.video_fps'],
  [{ url, options: { video_fps: 61 } }, 'options.video_fps'],
  [{ url, options: { video_width: 63 } }, 'options.video_width'],
  [{ url, options: { video_width: 3841 } }, 'options.video_width'],
  [{ url, options: { video_quality: 101 } }, 'options.video_quality'],
  [{ url, options: { video_scenario: 'fly' } }, 'options.video_scenario'],
  [{ url, options: { video_scenario: 'scroll', video_scroll_duration: 99 } }, 'options.video_scroll_duration'],
  [{ url, options: { video_scenario: 'scroll', video_scroll_pause: 10_001 } }, 'options.video_scroll_pause'],
  [{ url, options: { video_scenario: 'scroll', video_scroll_easing: 'bounce' } }, 'options.video_scroll_easing'],
  [{ url, options: { video_timing: 'fast' } }, 'options.video_timing'],
  [{ url, options: { video_poster: 1 } }, 'options.video_poster'],
  [{ url, options: { video_lenght: 3 } }, 'options.video_lenght'],
  [{ url, options: { device: 'iphone_15_pro', viewport_width: 3_000 } }, 'options.device'],
  [{ options: {} }, 'url'],
  [{ url, webhook_url: 'https://hooks.example.com/', webhook_events: ['screenshot.completed'] }, 'webhook_events[0]'],
]
for (const [body, path] of malformed) {
  t.test(`POST /videos refuses ${JSON.stringify(body)}`, async (t) => {
    const gateway = aGateway()
    const refused = await call(gateway, 'POST', '/videos', body)
    t.match(refused, { status: 400, body: { error: { code: 'VALIDATION_ERROR', details: [{ path }] } } })
    t.equal(refused.body.error.details.length, 1)
    t.equal(specsOf(gateway).length, 0)
  })
}

// The API server refuses the same options with the same messages: test/integration/crds/agreement.test.ts.
const ofVideos = CONTRADICTION_CASES.filter(({ options }) => /^(mp4|webm|gif)$/.test(options.format ?? ''))
t.ok(ofVideos.length > 25)
for (const { options, contradicts } of ofVideos) {
  t.test(`POST /videos ${contradicts.length > 0 ? 'refuses' : 'accepts'} ${JSON.stringify(options)}`, async (t) => {
    const { status, body } = await call(aGateway(), 'POST', '/videos', { url, options: renameKeys(options, toSnakeCase) })
    t.equal(status, contradicts.length > 0 ? 400 : 202)
    const messages = contradictions.filter(({ code }) => contradicts.includes(code)).map(({ message }) => message)
    t.strictSame(
      (body.error?.details ?? []).map(({ message }: { message: string }) => message),
      messages,
    )
    const paths: string[] = (body.error?.details ?? []).map(({ path }: { path: string }) => path.replace('options.', ''))
    t.ok(
      paths.every((path) => Object.keys(options).map(toSnakeCase).includes(path)),
      'each error points at an option of the request',
    )
  })
}
t.ok(
  videoContradictions.every(({ rule }) => rule !== undefined),
  'the API server checks each contradiction of videos',
)

t.test('the routes of screenshots and of videos show each their own, and lead to the other', async (t) => {
  const gateway = aGateway()
  const [video, picture] = [idAt(1), idAt(2)]
  put(gateway, { format: 'webm' }, video)
  put(gateway, undefined, picture)
  t.match(await call(gateway, 'GET', `/videos/${video}`), {
    status: 200,
    body: { id: video, format: 'webm', content_type: 'video/webm', duration_ms: 5_000, fps: 30, frames: 150, storage_path: /\.webm$/ },
  })
  const shown = await call(gateway, 'GET', `/screenshots/${picture}`)
  t.equal(shown.status, 200)
  t.notOk('frames' in shown.body)
  for (const [path, hint] of [
    [`/screenshots/${video}`, `screenshot not found: this is the id of a video. Use /videos/${video}.`],
    [`/videos/${picture}`, `video not found: this is the id of a screenshot. Use /screenshots/${picture}.`],
    [`/videos/${idAt(3)}`, 'video not found'],
  ] as const) {
    for (const [method, place] of [
      ['GET', path],
      ['DELETE', path],
      ['GET', `${path}/download`],
    ] as const) {
      t.match(
        await call(gateway, method, place),
        { status: 404, body: { error: { code: 'NOT_FOUND', message: hint } } },
        `${method} ${place}`,
      )
    }
  }
  const ids = async (path: string) => (await call(gateway, 'GET', path)).body.data.map(({ id }: { id: string }) => id)
  t.strictSame(await ids('/videos'), [video])
  t.strictSame(await ids('/screenshots'), [picture])
  t.strictSame(await ids('/videos?format=webm&status=completed'), [video])
  t.strictSame(await ids('/videos?format=mp4'), [])
  t.match(await call(gateway, 'GET', '/videos?format=png'), { status: 400, body: { error: { details: [{ path: 'format' }] } } })
  t.match(await call(gateway, 'GET', '/videos?batch_id=batch_1'), { status: 400, body: { error: { details: [{ path: 'batch_id' }] } } })
  t.equal((await call(gateway, 'DELETE', `/videos/${video}`)).status, 204)
  t.equal((await call(gateway, 'GET', `/videos/${video}`)).status, 404)
})

t.test('GET /videos reads all pages with cursors, past the screenshots between', async (t) => {
  const gateway = aGateway()
  const ids = Array.from({ length: 9 }, (_, n) => idAt(n))
  for (const [n, id] of ids.entries()) put(gateway, n % 2 === 0 ? { format: 'mp4' } : undefined, id)
  const seen: string[] = []
  for (let query = '?limit=2'; query !== ''; ) {
    const { body } = await call(gateway, 'GET', `/videos${query}`)
    seen.push(...body.data.map(({ id }: { id: string }) => id))
    query = body.pagination.has_more ? `?limit=2&cursor=${body.pagination.next_cursor}` : ''
  }
  t.strictSame(
    seen,
    ids.filter((_, n) => n % 2 === 0),
  )
})

t.test('an Accept header that no format fits gets 406 with what would fit, and nothing is captured', async (t) => {
  const gateway = aGateway()
  const refused: [path: string, options: object, accept: string, message: RegExp][] = [
    ['/videos', {}, 'video/webm', /neither video\/mp4, the file in format mp4, nor application\/json/],
    ['/videos', { format: 'gif' }, 'audio/*', /neither image\/gif/],
    ['/screenshots', {}, 'application/pdf', /neither image\/png/],
    ['/screenshots', { format: 'pdf' }, 'image/png, audio/ogg', /neither application\/pdf/],
    ['/screenshots', { format: 'webp' }, 'text/html', /neither image\/webp/],
  ]
  for (const [path, options, accept, message] of refused) {
    const { status, body } = await call(gateway, 'POST', path, { url, options }, { accept })
    t.match({ status, body }, { status: 406, body: { success: false, error: { code: 'NOT_ACCEPTABLE', message } } })
  }
  t.equal(gateway.screenshots.objects.size, 0)
  for (const [accept, more] of [
    ['application/pdf', { response_type: 'json' }],
    ['application/pdf', { async: true, options: { format: 'pdf' } }],
    ['application/pdf, application/json;q=0.1', {}],
  ] as const) {
    t.equal((await call(gateway, 'POST', '/screenshots', { url, ...more }, { accept })).status, 202, `${accept} ${JSON.stringify(more)}`)
  }
})

t.test('Accept: video/* holds the request and responds with the video, with ranges at its link', async (t) => {
  const gateway = aGateway()
  const content = Buffer.from('0123456789')
  const posted = call(gateway, 'POST', '/videos', { url, attachment_name: 'film.mp4' }, { accept: 'video/mp4' })
  for (;;) {
    const [created] = gateway.screenshots.objects.values()
    if (created) {
      const id = created.metadata.name.replace('-', '_')
      gateway.files.objects.set(`users/acme/${id}.mp4`, content)
      const result = { ...recorded, etag: 'abc', fileSizeBytes: content.length }
      gateway.screenshots.put({ ...created, status: { ...completedStatus(), result } })
      break
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { status, headers, body } = await posted
  t.match({ status, type: headers['content-type'], body }, { status: 200, type: 'video/mp4', body: '0123456789' })
  const [id = ''] = [...gateway.screenshots.objects.keys()]
  const { download_url: link } = (await call(gateway, 'GET', `/videos/${id}`)).body
  const part = await gateway.app.inject({ method: 'GET', url: link.replace('https://shots.example', ''), headers: { range: 'bytes=2-4' } })
  t.match(
    { status: part.statusCode, range: part.headers['content-range'], body: part.body },
    { status: 206, range: 'bytes 2-4/10', body: '234' },
  )
  t.match(part.headers['content-disposition'], /^attachment; filename="film\.mp4"/)
})
