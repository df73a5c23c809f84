import t from 'tap'
import { BodyBudget, EXCEEDED_LIMITS, MIN_BODY_BUDGET_BYTES } from '../../../../api-gateway/src/bodies/budget.ts'
import { MAX_MARKUP_BODY_BYTES } from '../../../../api-gateway/src/http/body.ts'

function aBudget() {
  const refused: string[] = []
  return { budget: new BodyBudget({ maxBytes: MIN_BODY_BUDGET_BYTES, onRefuse: (limit) => refused.push(limit) }), refused }
}
const unavailable = { code: 'SERVICE_UNAVAILABLE', message: /retry in 2 seconds/ }

t.test('one account cannot use the bytes of all: a second body of the largest size is refused, another account sends one', async (t) => {
  const { budget, refused } = aBudget()
  const lease = budget.take('acme', MAX_MARKUP_BODY_BYTES)
  t.throws(() => budget.take('acme', MAX_MARKUP_BODY_BYTES), unavailable)
  t.throws(() => budget.take('acme', 1), unavailable)
  budget.take('globex', MAX_MARKUP_BODY_BYTES)
  t.strictSame(refused, ['account', 'account'])
  lease.release()
  t.doesNotThrow(() => budget.take('acme', MAX_MARKUP_BODY_BYTES))
})

t.test('large bodies of two accounts do not keep out small bodies of a third', async (t) => {
  const { budget, refused } = aBudget()
  for (const account of ['acme', 'globex']) budget.take(account, MAX_MARKUP_BODY_BYTES)
  t.throws(() => budget.take('initech', 65_537), unavailable)
  t.strictSame(refused, ['total'])
  for (let n = 0; n < 64; n++) budget.take('initech', 65_536)
  t.throws(() => budget.take('initech', 65_536), unavailable)
  t.strictSame([...new Set(refused)], [EXCEEDED_LIMITS[0]])
})

t.test('all requests without an API key share one megabyte', async (t) => {
  const { budget } = aBudget()
  for (let n = 0; n < 256; n++) budget.take('', 4_096)
  t.throws(() => budget.take('', 4_096), unavailable)
  t.doesNotThrow(() => budget.take('acme', 4_096))
})

t.test('a body of unknown length counts as it arrives, and is released once', async (t) => {
  const { budget } = aBudget()
  const lease = budget.take('acme', 0)
  lease.cover(4_096)
  lease.cover(100)
  lease.cover(8_192)
  t.equal(budget.bytes, 8_192)
  t.throws(() => lease.cover(MAX_MARKUP_BODY_BYTES + 1), unavailable)
  t.equal(budget.bytes, 8_192, 'a refusal takes nothing')
  lease.release()
  lease.release()
  t.equal(budget.bytes, 0)
})

t.test('large bodies that are parsed together exhaust the memory: they take turns in the order of their arrival', async (t) => {
  const collected: string[] = []
  const started: string[] = []
  const budget = new BodyBudget({
    maxBytes: 4 * MIN_BODY_BUDGET_BYTES,
    onRefuse: () => {},
    collectGarbage: () => collected.push(started.join()),
  })
  const start = (name: string, bytes: number) => {
    const lease = budget.take(name, bytes)
    const whenStarted = lease.turn().then(() => started.push(name))
    return { lease, whenStarted }
  }
  const MEBIBYTE = 2 ** 20
  const large = start('large', MAX_MARKUP_BODY_BYTES)
  const first = start('first', 4 * MEBIBYTE)
  const second = start('second', 4 * MEBIBYTE)
  const third = start('third', 4 * MEBIBYTE)
  const small = start('small', 65_536)
  await Promise.all([large.whenStarted, small.whenStarted])
  t.strictSame(started, ['small', 'large'])
  t.strictSame(collected, [], 'there is no garbage yet')
  large.lease.release()
  await Promise.all([first.whenStarted, second.whenStarted])
  t.strictSame(started.slice(2), ['first', 'second'])
  t.strictSame(collected.length, 2)
  first.lease.release()
  await third.whenStarted
  for (const { lease } of [second, third, small]) lease.release()
  t.equal(budget.bytes, 0)
})
