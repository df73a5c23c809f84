import t from 'tap'
import { ApiError, unavailable } from '../../../../api-gateway/src/common/errors.ts'
import { carryOut, Idempotency, RETENTION_MILLISECONDS } from '../../../../api-gateway/src/creation/idempotency.ts'
import { type CreationPlan, planScreenshots } from '../../../../api-gateway/src/creation/plan.ts'
import { idempotencyObjectKeys, SignedPlans } from '../../../../api-gateway/src/creation/signed-plans.ts'
import type { KeyRing } from '../../../../crds/src/crypto/signatures.ts'
import { collectIgnored } from '../../../support/sources/mark-checks.ts'
import { anObjectStore, NOW } from '../fakes.ts'

const ring: KeyRing = { current: 'a', keys: { a: 'c2VjcmV0' } }
const request = { account: 'acme', route: 'POST /screenshots', body: { url: 'https://example.com/' } }

function aStore(keys: KeyRing = ring) {
  const objects = anObjectStore()
  const { ignored, report } = collectIgnored()
  let now = NOW
  const later = (milliseconds: number): void => {
    now = new Date(now.getTime() + milliseconds)
  }
  const idempotency = new Idempotency({ objects, keyRing: () => keys, now: () => now, report })
  const begin = (changes: { key?: string | string[]; body?: unknown } = {}) =>
    idempotency.begin({ ...request, key: 'order-7', newPlan: () => planScreenshots(now, 1, false), ...changes })
  return { objects, begin, later, idempotency, ignored }
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
  later(RETENTION_MILLISECONDS - 1)
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

t.test('begin makes a new plan for a key that is a day old, whatever it stood for', async (t) => {
  const { begin, later } = aStore()
  const first = await begin()
  await first.complete({})
  later(RETENTION_MILLISECONDS)
  const second = await begin({ body: 'other' })
  t.equal(second.isRepeated, false)
  t.notSame(second.plan.ids, first.plan.ids)
})

const plansOf = (keys = ring, objects = anObjectStore()) => new SignedPlans({ objects, keyRing: () => keys, now: () => NOW })
const placeOf = (account = 'acme', keys = ring) => idempotencyObjectKeys(account, 'order-7', keys)[0]!
const [place, plan] = [placeOf(), planScreenshots(NOW, 1, false)]

/** The object that a gateway writes for a plan. */
async function textOf(plan: CreationPlan, objectKey = place, keys?: KeyRing): Promise<string> {
  const objects = anObjectStore()
  await plansOf(keys, objects).start(objectKey, request, { plan, result: {} })
  return objects.objects.get(objectKey)!
}
const { signature: _, ...unsigned } = JSON.parse(await textOf(plan))

/** Entries of places that a gateway of this release has not written there. */
const forged: [string, string, string][] = [
  ['no JSON', '\0\u0001{', 'content'],
  ['of wrong types', JSON.stringify({ ...unsigned, plan: { ids: 7 } }), 'content'],
  ['a prototype', JSON.stringify(unsigned).replace('{', '{"__proto__":{"a":1},'), 'content'],
  ['without a signature', JSON.stringify(unsigned), 'content'],
  ['of version 1', JSON.stringify({ ...unsigned, version: 1 }), 'content'],
  ['with a signature by another key', await textOf(plan, place, { current: 'a', keys: { a: 'b3RoZXI=' } }), 'content'],
  ['copied from another account', await textOf(plan, placeOf('victim')), 'content'],
  ['of a plan whose ids do not follow from its reservation', await textOf({ ...plan, ids: planScreenshots(NOW, 1, false).ids }), 'id'],
  ['of the future', await textOf(planScreenshots(new Date(NOW.getTime() + 2 * 864e5), 1, false)), 'time'],
]
for (const [name, text, reason] of forged) {
  t.test(`begin takes an entry for absent that is ${name}`, async (t) => {
    const { begin, objects, ignored } = aStore()
    objects.objects.set(place, text)
    t.match(await begin(), { isRepeated: false })
    t.strictSame(ignored, [`idempotency ${reason} ${place}`])
    t.match(JSON.parse(objects.objects.get(place) ?? ''), { version: 2 }, 'and writes its own')
  })
}

t.test('begin finds a key after a rotation', async (t) => {
  const { begin, objects, ignored } = aStore({ current: 'b', keys: { ...ring.keys, b: 'Ym9i' } })
  objects.objects.set(place, await textOf(plan))
  t.match(await begin(), { isRepeated: true, plan, result: {} })
  await t.rejects(begin({ body: 'other' }), { code: 'IDEMPOTENCY_KEY_REUSED' })
  t.strictSame([objects.objects.size, ignored], [1, []])
})

t.test('a key does not lie in the bucket as it is, nor does one account meet another’s', async (t) => {
  t.match(place, /^idempotency\/acme\/[a-z2-7]{52}\.json$/)
  t.not(place, placeOf('other').replace('other', 'acme'))
  t.not(place, placeOf('acme', { current: 'b', keys: { b: 'Ym9i' } }), 'nobody without the key can compute it')
})

t.test('a plan is for its request, however the body is spelt, and for no other, also after a rotation', async (t) => {
  const asked = { account: 'acme', route: 'POST /a', body: { url: 'x', options: { b: 1, a: [1, 2] } } }
  const stored = (await plansOf().start(place, asked, { plan }))!
  for (const plans of [plansOf(), plansOf({ current: 'b', keys: { ...ring.keys, b: 'Ym9i' } })]) {
    t.ok(plans.isFor(stored, { ...asked, body: { options: { a: [1, 2], b: 1 }, url: 'x' } }))
    for (const other of [{ route: 'POST /b' }, { account: 'evil' }, { body: { url: 'x', options: { b: 1, a: [2, 1] } } }])
      t.notOk(plans.isFor(stored, { ...asked, ...other }))
  }
  t.notOk(plansOf({ current: 'b', keys: { b: 'Ym9i' } }).isFor(stored, asked), 'its key is gone')
})

t.test('carryOut forgets a key after an error which says that nothing was done, and after no other', async (t) => {
  const refusals = (['VALIDATION_ERROR', 'RATE_LIMIT_EXCEEDED', 'QUEUE_FULL'] as const).map((code) => new ApiError(code, 'refused'))
  const others = [unavailable('no response'), new ApiError('INTERNAL_ERROR', 'a bug'), new Error('a bug')]
  for (const error of [...refusals, ...others]) {
    const { begin, objects } = aStore()
    await t.rejects(
      carryOut(await begin(), () => Promise.reject(error)),
      error,
    )
    t.equal(objects.objects.size, refusals.includes(error as ApiError) ? 0 : 1, String(error))
  }
})

t.test('begin takes a key of 1 to 255 printable characters', async (t) => {
  const { begin } = aStore()
  t.ok(await begin({ key: 'a b-7' }))
  for (const key of ['', 'a'.repeat(256), 'ü', 'a\tb', ['a', 'b']]) await t.rejects(begin({ key }), { code: 'VALIDATION_ERROR' })
})
