import t from 'tap'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { contradictions } from '../../../../../crds/src/options/contradictions.ts'
import { assertEvery } from '../../../../support/accepts.ts'
import { completedStatus } from '../../../../support/fakes/builders.ts'
import { aGateway, aScreenshot, NOW } from '../../fakes.ts'
import { listed } from '../../requests.ts'

const url = 'https://example.com/'
type Gateway = ReturnType<typeof aGateway>

const recorded = { ...completedStatus().result, durationMilliseconds: 5_000, fps: 30, frames: 150 }
const put = ({ screenshots }: Gateway, options: Screenshot['spec']['options'], id: string) =>
  screenshots.put(aScreenshot({ id, ...(options ? { options } : {}), status: { ...completedStatus(), result: recorded } }))
const idAt = (seconds: number) => newId('scr', new Date(NOW.getTime() - seconds * 1_000))

t.test('POST /videos creates a Screenshot that moves, an mp4 by default, and leads to /videos', async (t) => {
  const gateway = aGateway()
  const { status, headers, body } = await gateway.call('POST', '/videos', { url })
  t.equal(status, 202)
  t.match(body, { status: 'pending', options: { format: 'mp4' } })
  t.equal(headers.location, `/api/v1/videos/${body.id}`)
  t.match(await gateway.call('POST', '/videos', { url, options: { format: 'gif', video_fps: 10 } }), { status: 202 })
  t.match(gateway.screenshots.specs, [{ options: { format: 'mp4' } }, { options: { format: 'gif', videoFps: 10 } }])
})

t.test('POST /videos reserves one unit for each 10 seconds, and refuses what the quota does not cover', async (t) => {
  const gateway = aGateway()
  gateway.quota.set('acme', { limit: 16 })
  const post = (video_duration: number, key?: string) =>
    gateway.call('POST', '/videos', { url, options: { video_duration } }, key ? { 'idempotency-key': key } : {})
  await post(10)
  t.equal(gateway.quota.used, 1)
  await post(101, 'again')
  t.equal(gateway.quota.used, 12)
  t.equal((await post(101, 'again')).headers['idempotent-replayed'], 'true')
  t.equal(gateway.quota.used, 12, 'a repetition costs nothing')
  const refused = await post(41)
  t.match(refused, { status: 429, body: { error: { code: 'USAGE_LIMIT_REACHED', details: { limit: 16, used: 12, cost: 5 } } } })
  t.match(refused.body.error.message, 'the request costs 5 units')
  t.equal(refused.headers['x-quota-remaining'] !== undefined, true)
  t.equal((await post(40)).status, 202)
  t.equal(gateway.quota.used, 16)
})

t.test('a key of POST /screenshots does not stand for a video', async (t) => {
  const gateway = aGateway()
  const more = { 'idempotency-key': 'one' }
  t.equal((await gateway.call('POST', '/screenshots', { url }, more)).status, 202)
  t.match(await gateway.call('POST', '/videos', { url }, more), { status: 422, body: { error: { code: 'IDEMPOTENCY_KEY_REUSED' } } })
})

const misplaced: [string, object, string][] = [
  ['/screenshots', { url, options: { format: 'mp4' } }, 'mp4 is a video: use POST /videos'],
  ['/screenshots/batch', { urls: [url], options: { format: 'webm' } }, 'webm is a video: use POST /videos'],
  ['/videos', { url, options: { format: 'pdf' } }, 'pdf is not a video: use mp4, webm or gif, or POST /screenshots'],
]
for (const [path, body, message] of misplaced) {
  t.test(`POST ${path} refuses ${JSON.stringify(body)}`, async (t) => {
    const gateway = aGateway()
    t.match(await gateway.call('POST', path, body), { status: 400, body: { error: { message, details: [{ path: 'options.format' }] } } })
    t.equal(gateway.screenshots.specs.length, 0)
  })
}

/** Wrong values of options. */
const malformed: [name: string, ...values: unknown[]][] = [
  ['video_duration', 0, 121, 2.5, '5'],
  ['video_fps', 4, 61],
  ['video_width', 63, 3_841],
  ['video_quality', 101],
  ['video_scenario', 'fly'],
  ['video_scroll_duration', 99],
  ['video_scroll_pause', 10_001],
  ['video_scroll_easing', 'bounce'],
  ['video_timing', 'fast'],
  ['video_poster', 1],
  ['video_lenght', 3],
]
const events = { webhook_url: 'https://hooks.example.com/', webhook_events: ['screenshot.completed'] }
const bodies: [body: object, path: string][] = [
  ...malformed.flatMap(([name, ...values]) =>
    values.map((value): [object, string] => [{ url, options: { video_scenario: 'scroll', [name]: value } }, `options.${name}`]),
  ),
  [{ url, options: { device: 'iphone_15_pro', viewport_width: 3_000 } }, 'options.device'],
  [{ url, options: { video_duration: 16, format: 'gif' } }, 'options.video_duration'],
  [{ options: {} }, 'url'],
  [{ url, ...events }, 'webhook_events[0]'],
]
t.test('POST /videos refuses wrong options, and points at them', async (t) => {
  const { call, screenshots } = aGateway()
  for (const [body, path] of bodies) {
    const { status, body: response } = await call('POST', '/videos', body)
    t.match([status, response], [400, { error: { code: 'VALIDATION_ERROR', details: [{ path }] } }], JSON.stringify(body))
    t.equal(response.error.details.length, 1, JSON.stringify(body))
  }
  t.equal(screenshots.specs.length, 0)
})

const ofVideos = contradictions.filter(({ code }) => /video|gif|scroll/.test(code))
assertEvery(t, ofVideos, ({ rule }) => rule !== undefined, 'the API server checks each contradiction of videos')

t.test('the routes of screenshots and of videos show each their own, and lead to the other', async (t) => {
  const gateway = aGateway()
  const [video, picture] = [idAt(1), idAt(2)]
  put(gateway, { format: 'webm' }, video)
  put(gateway, undefined, picture)
  t.match(await gateway.call('GET', `/videos/${video}`), {
    status: 200,
    body: { id: video, format: 'webm', content_type: 'video/webm', duration_ms: 5_000, fps: 30, frames: 150, storage_path: /\.webm$/ },
  })
  const shown = await gateway.call('GET', `/screenshots/${picture}`)
  t.equal(shown.status, 200)
  t.notOk('frames' in shown.body)
  for (const [path, message] of [
    [`/screenshots/${video}`, `screenshot not found: this is the id of a video. Use /videos/${video}.`],
    [`/videos/${picture}`, `video not found: this is the id of a screenshot. Use /screenshots/${picture}.`],
    [`/videos/${idAt(3)}`, 'video not found'],
  ] as const)
    for (const response of [
      await gateway.call('GET', path),
      await gateway.call('DELETE', path),
      await gateway.call('GET', `${path}/download`),
    ])
      t.match(response, { status: 404, body: { error: { code: 'NOT_FOUND', message } } }, path)
  const ids = async (path: string) => listed(await gateway.call('GET', path))
  t.strictSame(await ids('/videos'), [video])
  t.strictSame(await ids('/screenshots'), [picture])
  t.strictSame(await ids('/videos?format=webm&status=completed'), [video])
  t.strictSame(await ids('/videos?format=mp4'), [])
  t.match(await gateway.call('GET', '/videos?format=png'), { status: 400, body: { error: { details: [{ path: 'format' }] } } })
  t.match(await gateway.call('GET', '/videos?batch_id=batch_1'), { status: 400, body: { error: { details: [{ path: 'batch_id' }] } } })
  t.equal((await gateway.call('DELETE', `/videos/${video}`)).status, 204)
  t.equal((await gateway.call('GET', `/videos/${video}`)).status, 404)
})

t.test('an Accept header that no format fits gets 406 with what would fit, and nothing is captured', async (t) => {
  const gateway = aGateway()
  const refused: [path: string, options: object, accept: string, message: RegExp][] = [
    ['/videos', {}, 'video/webm', /neither video\/mp4, the file in format mp4, nor application\/json/],
    ['/screenshots', {}, 'application/pdf', /neither image\/png/],
  ]
  for (const [path, options, accept, message] of refused) {
    const { status, body } = await gateway.call('POST', path, { url, options }, { accept })
    t.match({ status, body }, { status: 406, body: { success: false, error: { code: 'NOT_ACCEPTABLE', message } } })
  }
  t.equal(gateway.screenshots.objects.size, 0)
  for (const [accept, more] of [
    ['application/pdf', { response_type: 'json' }],
    ['application/pdf', { async: true, options: { format: 'pdf' } }],
    ['application/pdf, application/json;q=0.1', {}],
  ] as const) {
    t.equal((await gateway.call('POST', '/screenshots', { url, ...more }, { accept })).status, 202, `${accept} ${JSON.stringify(more)}`)
  }
})
