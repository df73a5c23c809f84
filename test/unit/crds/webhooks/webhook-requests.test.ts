import t from 'tap'
import { Annotation, isWebhookIdName, REQUEST_PREFIX, toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { ScreenshotSpec } from '../../../../crds/src/kinds/screenshot.ts'
import { MAX_REQUESTS, type PostResponse } from '../../../../crds/src/kinds/webhook.ts'
import { logKey, logPrefix } from '../../../../crds/src/records/storage-keys.ts'
import {
  type AttemptLine,
  defaultWebhookId,
  findDefaultWebhook,
  isRequestedEvent,
  LOG_MILLISECONDS,
  linesOf,
  MAX_LOG_LINES,
  mergeLines,
  parseLog,
  REQUEST_WEBHOOK,
  readLog,
  toDeliveries,
  toLogText,
  toPostResponse,
} from '../../../../crds/src/webhooks/deliveries.ts'
import {
  findOpenRequests,
  findRequests,
  toDeletions,
  toRequestAnnotation,
  toResponsePatch,
} from '../../../../crds/src/webhooks/webhook-requests.ts'
import { anAttempt, aScreenshot, at, aWebhook } from '../../../support/fakes/builders.ts'

const NONCE = 'a'.repeat(20)
const DELIVERY = 'dlv_01kajq2v0vtz8m3c5x7r9w4n6p'
const response: PostResponse = { time: at(2).toISOString(), success: true, statusCode: 200, responseMilliseconds: 12 }
const aHook = (annotations: Record<string, string>, status = {}) => {
  const hook = aWebhook()
  return { ...hook, metadata: { ...hook.metadata, annotations }, status }
}
const test = { do: 'test', nonce: NONCE, at: at(1) } as const
const redelivery = { do: 'redeliver', nonce: 'b'.repeat(20), at: at(1), delivery: DELIVERY } as const
const missed = { do: 'redeliverMissed', nonce: 'c'.repeat(20), at: at(1) } as const

t.test('findRequests reads the annotations of toRequestAnnotation', async (t) => {
  const asked = [test, redelivery, missed]
  const hook = aHook({ ...Object.assign({}, ...asked.map(toRequestAnnotation)), [Annotation.testRequested]: 'now' })
  t.strictSame(findRequests(hook), [{ do: 'manualTest', nonce: 'by-hand', text: 'now' }, ...asked])
})

const strange = [
  ['a nonce that is no nonce', 'x', 'test 2026-11-21T10:00:00.000Z'],
  ['a value that is no request', NONCE, 'now'],
  ['a delivery that is no id', NONCE, 'redeliver ../../users 2026-11-21T10:00:00.000Z'],
  ['an instant that is none', NONCE, 'test 2026-99-21T10:00:00.000Z'],
] as const
for (const [what, nonce, value] of strange)
  t.test(`findRequests ignores ${what}`, async (t) => t.strictSame(findRequests(aHook({ [REQUEST_PREFIX + nonce]: value })), []))

t.test('findRequests limits the requests of one Webhook', async (t) => {
  const many = Array.from({ length: 100 }, (_, n) => toRequestAnnotation({ ...test, nonce: n.toString(16).padStart(20, '0') }))
  t.equal(findRequests(aHook(Object.assign({}, ...many))).length, MAX_REQUESTS)
})

t.test('a request is open until it has a response or has expired', async (t) => {
  const annotations = { ...toRequestAnnotation(test), [Annotation.testRequested]: 'now' }
  const count = (status: object, second: number) => findOpenRequests(aHook(annotations, status), at(second)).length
  t.equal(count({}, 1), 2)
  t.equal(count({ responses: { [NONCE]: response } }, 1), 1)
  t.equal(count({ lastTest: { ...response, request: 'now' } }, 1), 1)
  t.equal(count({ lastTest: { ...response, request: 'earlier' } }, 1), 2)
  t.equal(count({}, 62), 1, 'a person may wait longer')
})

t.test('responses are removed after their requests, and requests are removed when they have ended', async (t) => {
  const hook = aHook(
    { ...toRequestAnnotation(test), ...toRequestAnnotation(redelivery) },
    { responses: { [NONCE]: response, gone: response } },
  )
  t.strictSame(toDeletions(hook, at(2)), { [REQUEST_PREFIX + NONCE]: null })
  t.strictSame(toResponsePatch(hook, [{ request: redelivery, response }]), { responses: { gone: null, [redelivery.nonce]: response } })
  t.strictSame(toResponsePatch(aHook({}), []), {})
})

t.test('a person’s test has its response in lastTest, without the error of an earlier test', async (t) => {
  const hook = aHook({ [Annotation.testRequested]: 'now' })
  const [request] = findRequests(hook)
  t.strictSame(toResponsePatch(hook, [{ request: request!, response }]), { lastTest: { ...response, error: null, request: 'now' } })
})

t.test('isRequestedEvent is true for the events that a request names, and by default for completed and failed', async (t) => {
  const webhookUrl = 'https://me.example.com/'
  const cases: [spec: Partial<ScreenshotSpec>, events: string[]][] = [
    [{}, []],
    [{ webhookEvents: ['screenshot.queued'] }, []],
    [{ webhookUrl }, ['screenshot.completed', 'screenshot.failed']],
    [{ webhookUrl, webhookEvents: ['screenshot.queued'] }, ['screenshot.queued']],
  ]
  const all = ['screenshot.queued', 'screenshot.completed', 'screenshot.failed'] as const
  for (const [spec, events] of cases) {
    const requested = all.filter((event) => isRequestedEvent(aScreenshot({ spec }), event))
    t.strictSame(requested, events)
  }
})

t.test('findDefaultWebhook returns the oldest default Webhook that is not deleted, although a finalizer keeps it', async (t) => {
  const made = (name: string, second: number, more = {}) =>
    aWebhook({ name, metadata: { creationTimestamp: at(second).toISOString(), ...more }, spec: { isDefault: true } })
  const deleted = made('d', 1, { deletionTimestamp: at(1).toISOString() })
  t.equal(findDefaultWebhook([aWebhook(), deleted]), undefined)
  t.equal(findDefaultWebhook([aWebhook(), deleted, made('b', 5), made('a', 9), made('c', 5)])?.metadata.name, 'b')
})

t.test('defaultWebhookId is the same for the same account, and gives a valid object name', async (t) => {
  t.equal(defaultWebhookId('acme'), defaultWebhookId('acme'))
  t.not(defaultWebhookId('acme'), defaultWebhookId('default'))
  t.ok(isWebhookIdName(toObjectName(defaultWebhookId('acme'))))
})

t.test('REQUEST_WEBHOOK is a name that no object can have', async (t) => t.notMatch(REQUEST_WEBHOOK, /^[a-z0-9]/))

t.test('keys of the log sort newest first and contain the number of lines', async (t) => {
  const prefix = logPrefix('acme', 'wh_1')
  const keys = [at(1), at(3), at(2)].map((instant, n) => logKey(prefix, instant, n + 1, 'abc'))
  t.strictSame(keys.toSorted().map(linesOf), [2, 3, 1])
  t.ok(keys.every((key) => key.startsWith('deliveries/acme/wh_1/')))
  t.equal(linesOf('deliveries/acme/wh_1/other'), 0)
})

t.test('parseLog reads the lines of toLogText, and omits invalid ones', async (t) => {
  const lines = [anAttempt(), anAttempt({ attempt: 2, answer: 'two\nlines \u2028 and "more"' })]
  t.strictSame(parseLog(`${toLogText(lines)}{"half":\n{"delivery":1}\n\n`), lines)
})

t.test('mergeLines returns each attempt once, newest first, without expired ones, up to the maximum', async (t) => {
  const [first, second] = [anAttempt(), anAttempt({ attempt: 2, at: at(2).toISOString() })]
  t.strictSame(mergeLines([first, second, { ...first }], at(3)), [second, first])
  t.strictSame(mergeLines([first, second], new Date(at(2).getTime() + LOG_MILLISECONDS)), [second])
  const many = Array.from({ length: MAX_LOG_LINES + 1 }, (_, n) => anAttempt({ delivery: `dlv_${n}`, at: at(n).toISOString() }))
  const merged = mergeLines(many, at(MAX_LOG_LINES))
  t.equal(merged.length, MAX_LOG_LINES)
  t.equal(merged.at(-1)?.delivery, 'dlv_1')
})

const states: { name: string; lines: Partial<AttemptLine>[]; state: string }[] = [
  { name: 'pending while another attempt is due', lines: [{}], state: 'pending' },
  { name: 'successful after a success', lines: [{}, { attempt: 2, outcome: 'success' }], state: 'successful' },
  { name: 'failed after the last attempt', lines: [{}, { attempt: 3, last: true }], state: 'failed' },
  { name: 'failed when nobody wants it any more', lines: [{}, { outcome: 'withdrawn', last: true }], state: 'failed' },
  {
    name: 'successful after a manual success',
    lines: [{ last: true }, { attempt: 4, manual: true, outcome: 'success' }],
    state: 'successful',
  },
  { name: 'successful also when a redelivery failed', lines: [{ outcome: 'success' }, { attempt: 2, manual: true }], state: 'successful' },
  { name: 'failed when a redelivery failed too', lines: [{ last: true }, { attempt: 4, manual: true }], state: 'failed' },
]
for (const { name, lines, state } of states) {
  t.test(`a delivery is ${name}`, async (t) => {
    const newestFirst = lines.map((changes, n) => anAttempt({ at: at(n).toISOString(), ...changes })).reverse()
    t.match(toDeliveries(newestFirst), [{ id: 'dlv_1', state, attempts: newestFirst.toReversed() }])
  })
}

t.test('readLog lists again if an object was removed meanwhile, and reads at most the maximum number of lines', async (t) => {
  const prefix = logPrefix('acme', 'wh_1')
  const old = logKey(prefix, at(1), 1, 'old')
  const [joined, full] = [logKey(prefix, at(2), 1, 'joined'), logKey(prefix, at(1), MAX_LOG_LINES, 'full')]
  const pages = [[old], [joined, full, old]]
  const asked: string[] = []
  const read = async (key: string) => {
    asked.push(key)
    return key === old ? undefined : toLogText(Array.from({ length: key === full ? MAX_LOG_LINES : 1 }, () => anAttempt()))
  }
  const lines = await readLog(prefix, { list: async () => pages.shift() ?? [], read }, { now: at(60), report: () => {} })
  t.strictSame(asked, [old, joined, full])
  t.equal(lines.length, MAX_LOG_LINES + 1)
})

t.test('toPostResponse returns when an attempt ended and why it failed', async (t) => {
  const late = anAttempt({ outcome: 'timeout', statusCode: 0, milliseconds: 5_000, detail: 'no answer in time' })
  const failed = { success: false, statusCode: 0, responseMilliseconds: 5_000, error: 'no answer in time' }
  t.strictSame(toPostResponse(late), { time: at(6).toISOString(), ...failed })
  t.notOk('error' in toPostResponse(anAttempt({ outcome: 'success', statusCode: 200 })))
  t.equal(toPostResponse(anAttempt({ detail: 'x'.repeat(999) })).error?.length, 256)
})
