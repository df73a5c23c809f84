import t from 'tap'
import { Annotation, REQUEST_PREFIX } from '../../../../crds/src/identifiers/names.ts'
import { MAX_REQUESTS, type PostResponse } from '../../../../crds/src/kinds/post-response.ts'
import {
  findOpenRequests,
  findRequests,
  toDeletions,
  toRequestAnnotation,
  toResponsePatch,
} from '../../../../crds/src/webhooks/webhook-requests.ts'
import { at, aWebhook } from '../../../support/fakes/builders.ts'

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
for (const [what, nonce, value] of strange) {
  t.test(`findRequests ignores ${what}`, async (t) => {
    t.strictSame(findRequests(aHook({ [REQUEST_PREFIX + nonce]: value })), [])
  })
}

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
