import t from 'tap'
import { parseBatchBody } from '../../../../../api-gateway/src/resources/batches/create-body.ts'
import { checkBaseline } from '../../../../../api-gateway/src/resources/screenshots/check-baseline.ts'
import { parseCreateBody } from '../../../../../api-gateway/src/resources/screenshots/create-body.ts'
import { DEFAULT_EGRESS_RULES } from '../../../../../crds/src/addresses/address-rules.ts'
import type { CaptureResult, Phase, Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import type { CaptureOptions } from '../../../../../crds/src/options/catalog.ts'
import { aScreenshot, SCREENSHOT_ID } from '../../fakes.ts'
import { refusalOf } from '../../requests.ts'

const url = 'https://example.com/'
const id = SCREENSHOT_ID
const parse = (options: object) => parseCreateBody({ url, options }, DEFAULT_EGRESS_RULES).options
const problemOf = (options: object) => refusalOf(() => parse(options))

t.test('compare_ignore takes selectors as texts, and regions as objects', async (t) => {
  const region = { x: 0, y: 10, width: 320, height: 60 }
  t.strictSame(parse({ compare_ignore: ['#clock', region, { selector: '.ad' }] })?.compareIgnore, [
    { selector: '#clock' },
    region,
    { selector: '.ad' },
  ])
})

t.test('comparison options out of range are refused with the limit', async (t) => {
  const message = /compare_ignore\[0\].* must /
  for (const entry of [
    '',
    'x'.repeat(1_025),
    7,
    {},
    { selector: 'p', x: 0 },
    { x: 0, y: 0, width: 1 },
    { x: -1, y: 0, width: 1, height: 1 },
  ]) {
    t.match(problemOf({ compare_ignore: [entry] }), { code: 'VALIDATION_ERROR', message }, JSON.stringify(entry))
  }
  t.match(problemOf({ compare_ignore: Array(21).fill('p') }), { details: [{ path: 'options.compare_ignore', code: 'too_big' }] })
  for (const compare_threshold of [-0.1, 1.1]) t.match(problemOf({ compare_threshold }), { code: 'VALIDATION_ERROR', message: /[01]/ })
  t.match(problemOf({ compare_color_tolerance: 2 }), { details: [{ path: 'options.compare_color_tolerance', code: 'too_big' }] })
  t.match(problemOf({ compare_to: 'scr_1' }), { details: [{ path: 'options.compare_to' }] })
  t.match(problemOf({ compare_to: id, format: 'pdf' }), { details: [{ code: 'contradiction', message: /needs a picture/ }] })
  t.match(problemOf({ compare_to: id, cache: true }), { details: [{ code: 'contradiction' }] })
})

t.test('compare_to is refused in batches', async (t) => {
  const body = { urls: [url], options: { compare_to: id } }
  t.throws(() => parseBatchBody(body, DEFAULT_EGRESS_RULES), { message: /compare_to is not available in a batch/ })
})

interface Given {
  live?: Screenshot
  latest?: Screenshot
  archived?: Screenshot
  /** Null: it is gone. */
  file?: { sizeBytes: number; etag: string; lastModified: Date } | null
}

const completed = (result: Partial<CaptureResult> = {}, options?: CaptureOptions): Screenshot =>
  aScreenshot({ phase: 'Completed', status: { phase: 'Completed', result: { etag: 'e', ...result } }, ...(options ? { options } : {}) })
const inPhase = (phase: Phase): Screenshot => aScreenshot({ phase })
const stored = { sizeBytes: 1, etag: 'e', lastModified: new Date() }

function check({ live, latest = live, archived, file = stored }: Given, options: CaptureOptions = { compareTo: id }): Promise<void> {
  return checkBaseline('acme', options, {
    screenshots: { find: async () => live, findLive: () => live, findLatest: async () => latest },
    archive: { find: async () => archived },
    files: { stat: async () => file ?? undefined },
  })
}

t.test('checkBaseline accepts a completed screenshot of the account whose picture still exists', async (t) => {
  await t.resolves(check({ live: completed() }))
  await t.resolves(check({ archived: completed({}, { format: 'avif' }) }))
  await t.resolves(check({ live: inPhase('Running'), latest: completed() }), 'another replica has seen its end')
  await t.resolves(check({}, {}), 'nothing to compare with')
})

t.test('checkBaseline says what is wrong with another screenshot', async (t) => {
  const message = (text: string) => new RegExp(`^compare_to: .*${text}`)
  await t.rejects(check({}), { code: 'NOT_FOUND', message: message('has no screenshot') })
  await t.rejects(check({ live: aScreenshot({ accountName: 'other' }) }), { code: 'NOT_FOUND' }, 'of another account')
  await t.rejects(check({ live: inPhase('Running') }), {
    code: 'NOT_READY',
    message: message('not completed'),
    headers: { 'retry-after': '2' },
  })
  await t.rejects(check({ live: inPhase('Failed') }), { code: 'NOT_COMPARABLE', message: message('failed') })
  await t.rejects(check({ live: completed({}, { format: 'pdf' }) }), { code: 'NOT_COMPARABLE', message: message('is a pdf') })
  await t.rejects(check({ live: completed({ unfit: 'blank' }) }), { code: 'NOT_COMPARABLE', message: message('one color') })
  await t.rejects(check({ live: completed({ unfit: 'bot_challenge' }) }), { code: 'NOT_COMPARABLE', message: message('bot challenge') })
  await t.rejects(check({ live: completed(), file: null }), { code: 'EXPIRED' })
  await t.rejects(check({ live: completed({ etag: 'other' }) }), { code: 'EXPIRED' }, 'another file has its key')
})
