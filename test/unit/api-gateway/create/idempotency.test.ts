import t from 'tap'
import { Idempotency, parseIdempotencyKey, REMEMBERED_MILLISECONDS } from '../../../../api-gateway/src/create/idempotency.ts'
import { planScreenshots } from '../../../../api-gateway/src/create/plan.ts'
import { idempotencyKey, isHashOf, requestHash } from '../../../../api-gateway/src/create/request-hash.ts'
import { FakeObjects } from '../fake-stores.ts'
import { NOW } from '../fakes.ts'

const ring = { current: 'a', keys: { a: 'c2VjcmV0' } }
const request = { account: 'acme', route: 'POST /screenshots', body: { url: 'https://example.com/' } }

function aStore() {
  const objects = new FakeObjects()
  let now = NOW
  const later = (milliseconds: number): void => {
    now = new Date(now.getTime() + milliseconds)
  }
  const idempotency = new Idempotency(
    objects,
    () => ring,
    () => now,
  )
  const begin = (changes: { key?: string; body?: unknown } = {}) =>
    idempotency.begin({ ...request, key: 'order-7', newPlan: () => planScreenshots(now, 1, false), ...changes })
  return { objects, begin, later, idempotency }
}

t.test('begin without a key makes a new plan each time and keeps nothing', async (t) => {
  const { objects, idempotency } = aStore()
  const unkeyed = { ...request, key: undefined, newPlan: () => planScreenshots(NOW, 1, false) }
  const [first, second] = [await idempotency.begin(unkeyed), await idempotency.begin(unkeyed)]
  t.notSame(first.plan.ids, second.plan.ids)
  await first.complete({})
  await second.forget()
  t.equal(objects.objects.size, 0)
})

t.test('begin with a completed key gives the first plan and its result', async (t) => {
  const { begin, later } = aStore()
  const first = await begin()
  t.match(first, { isRepeated: false, result: undefined })
  await first.complete({ a: 1 })
  later(REMEMBERED_MILLISECONDS - 1)
  const second = await begin()
  t.match(second, { isRepeated: true, result: { a: 1 } })
  t.strictSame(second.plan, first.plan)
})

t.test('begin makes the second of two requests at once wait, and lets it finish what the first has left', async (t) => {
  const { begin, later } = aStore()
  const first = await begin()
  await t.rejects(begin(), { code: 'IDEMPOTENCY_IN_PROGRESS', headers: { 'retry-after': '1' } })
  later(10_000)
  const second = await begin()
  t.match(second, { isRepeated: true, result: undefined, plan: first.plan })
  await t.rejects(begin(), { code: 'IDEMPOTENCY_IN_PROGRESS' }, 'the second is under way now')
})

t.test('begin refuses a key that stands for another request', async (t) => {
  const { begin } = aStore()
  await (await begin()).complete({})
  await t.rejects(begin({ body: 'other' }), { code: 'IDEMPOTENCY_KEY_REUSED' })
})

t.test('begin makes a new plan for a key that is a day old, whatever it stood for', async (t) => {
  const { begin, later } = aStore()
  const first = await begin()
  await first.complete({})
  later(REMEMBERED_MILLISECONDS)
  const second = await begin({ body: 'other' })
  t.equal(second.isRepeated, false)
  t.notSame(second.plan.ids, first.plan.ids)
})

t.test('begin starts anew after a request that did nothing was forgotten', async (t) => {
  const { begin } = aStore()
  await (await begin()).forget()
  t.match(await begin({ body: 'other' }), { isRepeated: false })
})

t.test('begin replaces what it cannot read', async (t) => {
  const { begin, objects } = aStore()
  objects.objects.set(idempotencyKey('acme', 'order-7'), '{"version":9}')
  t.match(await begin(), { isRepeated: false })
})

t.test('a key does not lie in the bucket as it is, nor does one account meet another’s', async (t) => {
  t.notMatch(idempotencyKey('acme', 'order-7'), 'order-7')
  t.not(idempotencyKey('acme', 'order-7'), idempotencyKey('other', 'order-7').replace('other', 'acme'))
})

t.test('requestHash is of this request, however its body is spelt, and of no other', async (t) => {
  const asked = { account: 'acme', route: 'POST /a', body: { url: 'x', options: { b: 1, a: [1, 2] } } }
  const hash = requestHash(asked, ring)
  t.ok(isHashOf(hash, { ...asked, body: { options: { a: [1, 2], b: 1 }, url: 'x' } }, ring))
  for (const other of [
    { ...asked, route: 'POST /b' },
    { ...asked, account: 'evil' },
    { ...asked, body: { url: 'x', options: { b: 1, a: [2, 1] } } },
  ])
    t.notOk(isHashOf(hash, other, ring))
})

t.test('a hash is compared by its own key after a rotation, and taken as it is when that key is gone', async (t) => {
  const hash = requestHash(request, ring)
  const next = { current: 'b', keys: { ...ring.keys, b: 'Ym9i' } }
  t.ok(isHashOf(hash, request, next))
  t.notOk(isHashOf(hash, { ...request, body: 'other' }, next))
  t.ok(isHashOf(hash, { ...request, body: 'other' }, { current: 'b', keys: { b: 'Ym9i' } }))
})

t.test('parseIdempotencyKey takes 1 to 255 printable characters', async (t) => {
  t.equal(parseIdempotencyKey(undefined), undefined)
  t.equal(parseIdempotencyKey('a b-7'), 'a b-7')
  for (const wrong of ['', 'a'.repeat(256), 'ü', 'a\tb', ['a', 'b']])
    t.throws(() => parseIdempotencyKey(wrong), { code: 'VALIDATION_ERROR' })
})
