import t from 'tap'
import { createAndForget, type ErrorBody, rest } from '../../support/cluster/conformance.ts'
import { page } from '../../support/servers/pages.ts'

// Parts 2.2 and 8: bounds of options. A value out of range is rejected, never clamped. This file tests one option of each type. The bounds
// of all options are in test/unit/crds/options/catalog.test.ts.

const url = page('/quadrants')
/** Delays the capture, because the test deletes the screenshot and does not need the picture. */
const pending = { delay: 60_000 }

const bounds: [sentence: string, option: string, accepted: unknown[], refused: unknown[]][] = [
  ['spec 2.2: viewport_width is a number, bounded', 'viewport_width', [1, 7680], [0, 7681, 1.5, '400', null]],
  ['spec 2.2: device_scale_factor is a number, bounded', 'device_scale_factor', [0.1, 5], [0, 0.09, 5.1, '2']],
  ['spec 2.2: device is a known name', 'device', ['Pixel 7', 'pixel-7'], ['Pixel 7000', '', 7]],
  ['spec 2.2: wait_for_selector is a string, bounded', 'wait_for_selector', ['html', `html${' '.repeat(1020)}`], ['', 'a'.repeat(1025), 1]],
  [
    'spec 2.2: wait_until is an array of load, domcontentloaded, networkidle and commit',
    'wait_until',
    [['load', 'domcontentloaded', 'networkidle', 'commit'], ['commit']],
    [[], ['soon'], 'load'],
  ],
]

for (const [sentence, option, accepted, refused] of bounds) {
  t.test(sentence, async (t) => {
    for (const value of accepted) {
      const { status, body } = await createAndForget(t, { url, options: { ...pending, [option]: value } })
      t.equal(status, 202, `${String(value).slice(0, 20)}: ${JSON.stringify(body)}`)
    }
    for (const value of refused) {
      const { status, body } = await createAndForget(t, { url, options: { [option]: value } })
      const what = String(value).slice(0, 20)
      t.match({ status, code: body.error?.code }, { status: 400, code: 'VALIDATION_ERROR' }, what)
      const others = (body as ErrorBody).error?.details?.filter(({ path }) => !path.startsWith(`options.${option}`))
      t.strictSame(others, [], what)
    }
  })
}

t.test('spec 2.2: all options are optional', async (t) => {
  t.equal((await createAndForget(t, { url })).status, 202)
  t.equal((await createAndForget(t, { url, options: {} })).status, 202)
})

t.test('spec 2.2: omit_background is for PNG only', async (t) => {
  for (const format of ['jpeg', 'webp']) {
    const { status, body } = await createAndForget(t, { url, options: { omit_background: true, format } })
    t.equal(status, 400)
    t.match(body, { error: { details: [{ path: 'options.omit_background', code: 'contradiction' }] } })
  }
})

t.test('spec 8.7: url is bounded', async (t) => {
  const longest = `${url}?${'x'.repeat(8192 - url.length - 1)}`
  t.equal((await createAndForget(t, { url: longest, options: pending })).status, 202)
  t.equal((await createAndForget(t, { url: `${longest}x` })).status, 400)
})

t.test('spec 8.7: a request is bounded', async (t) => {
  const bodyOf = (bytes: number) => JSON.stringify({ url, padding: 'x'.repeat(bytes - `{"url":"${url}","padding":""}`.length) })
  const create = (body: string) => rest('POST', '/screenshots', body)
  const largest = bodyOf(8 * 1024 * 1024)
  t.equal(Buffer.byteLength(largest), 8 * 1024 * 1024)
  t.equal((await create(largest)).status, 400, 'the gateway read the body')
  const beyond = await create(`${largest} `)
  t.equal(beyond.status, 413)
  t.equal(beyond.body.error.code, 'PAYLOAD_TOO_LARGE')
})

t.test('spec 2.2: an unknown option is rejected, and the error suggests the closest name', async (t) => {
  const { status, body } = await createAndForget(t, { url, options: { viewport_widht: 400 } })
  t.equal(status, 400)
  t.match(body.error.details, [{ path: 'options.viewport_widht', code: 'unknown_field', message: /viewport_width/ }])
  const options = { ...pending, viewport_widht: 400 }
  const lenient = await rest('POST', '/screenshots', { url, options }, { prefer: 'handling=lenient' })
  t.teardown(() => rest('DELETE', `/screenshots/${lenient.body.id}`))
  t.equal(lenient.status, 202)
  t.equal(lenient.headers.get('x-ignored-options'), 'options.viewport_widht')
})
