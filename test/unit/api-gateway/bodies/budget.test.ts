import t from 'tap'
import { BodyBudget, EXCEEDED_LIMITS, MIN_BODY_BUDGET_BYTES } from '../../../../api-gateway/src/bodies/budget.ts'
import { MAX_MARKUP_BODY_BYTES } from '../../../../api-gateway/src/http/body.ts'

function aBudget() {
  const refused: string[] = []
  let milliseconds = 0
  const onRefuse = (limit: string) => refused.push(limit)
  const budget = new BodyBudget({ maxBytes: MIN_BODY_BUDGET_BYTES, onRefuse, now: () => milliseconds })
  /** Begins a body of which some bytes arrive. */
  const begin = (account: string, bytes = 0) => {
    const lease = budget.take(account)
    const errors: unknown[] = []
    let arrived = 0
    lease.onEnd((error) => errors.push(error))
    const arrive = (more: number) => {
      arrived += more
      lease.note(more)
      lease.cover(arrived)
    }
    if (bytes > 0) arrive(bytes)
    /** More bytes, if the body has not ended. */
    const continueWith = (more: number) => {
      if (errors.length > 0) return
      try {
        arrive(more)
      } catch (error) {
        errors.push(error)
        lease.release()
      }
    }
    return { ...lease, continueWith, errors }
  }
  /** A body that has arrived as a whole. */
  const take = (account: string, bytes: number) => {
    const body = begin(account, bytes)
    void body.turn()
    return body
  }
  return { budget, begin, take, refused, pass: (more: number) => (milliseconds += more) }
}
const unavailable = { code: 'SERVICE_UNAVAILABLE', message: /retry in 2 seconds/ }

t.test('one account cannot use the bytes of all: a second body of the largest size is refused, another account sends one', async (t) => {
  const { take, refused } = aBudget()
  const lease = take('acme', MAX_MARKUP_BODY_BYTES)
  t.throws(() => take('acme', MAX_MARKUP_BODY_BYTES), unavailable)
  t.throws(() => take('acme', 1), unavailable)
  take('globex', MAX_MARKUP_BODY_BYTES)
  t.strictSame(refused, ['account', 'account'])
  lease.release()
  t.doesNotThrow(() => take('acme', MAX_MARKUP_BODY_BYTES))
})

t.test('large bodies of two accounts do not keep out small bodies of a third', async (t) => {
  const { take, refused } = aBudget()
  for (const account of ['acme', 'globex']) take(account, MAX_MARKUP_BODY_BYTES)
  t.throws(() => take('initech', 65_537), unavailable)
  t.strictSame(refused, ['total'])
  for (let n = 0; n < 64; n++) take('initech', 65_536)
  t.throws(() => take('initech', 65_536), unavailable)
  t.strictSame([...new Set(refused)], [EXCEEDED_LIMITS[0]])
})

t.test('all requests without an API key share one megabyte', async (t) => {
  const { take } = aBudget()
  for (let n = 0; n < 256; n++) take('', 4_096)
  t.throws(() => take('', 4_096), unavailable)
  t.doesNotThrow(() => take('acme', 4_096))
})

t.test('bodies that are announced and not sent keep others out: they have no bytes in the budget', async (t) => {
  const { begin, take, budget, refused } = aBudget()
  for (const account of ['', 'acme', 'globex']) for (let n = 0; n < 500; n++) begin(account)
  t.equal(budget.bytes, 0)
  for (const account of ['acme', 'globex']) take(account, MAX_MARKUP_BODY_BYTES)
  take('', 4_096)
  t.strictSame(refused, [])
})

t.test('bodies of which all but a byte is sent keep sign-in out: the slowest ends', async (t) => {
  const { begin, pass, budget } = aBudget()
  const held = Array.from({ length: 256 }, () => {
    pass(5)
    return begin('', 4_096)
  })
  pass(100)
  const signIn = begin('', 80)
  t.match(held[0]?.errors, [unavailable])
  t.equal(held.filter(({ errors }) => errors.length > 0).length, 1)
  t.strictSame(signIn.errors, [])
  void signIn.turn()
  t.equal(budget.bytes, 255 * 4_096 + 80)
})

t.test('halves of large bodies block each other: the slowest ends, so that the fastest always arrives as a whole', async (t) => {
  const { begin, pass, budget, refused } = aBudget()
  const MEBIBYTE = 2 ** 20
  // Of one account: the first is trickling.
  const [slow, fast] = [begin('acme', 7 * MEBIBYTE), begin('acme', 4 * MEBIBYTE)]
  for (let n = 0; n < 10; n++) {
    pass(1_000)
    slow.continueWith(4_096)
    fast.continueWith(MEBIBYTE)
  }
  t.match(slow.errors, [unavailable])
  void fast.turn()
  t.equal(budget.bytes, 14 * MEBIBYTE, 'only the fast one counts')
  fast.release()
  slow.release()
  t.equal(budget.bytes, 0)
  t.strictSame([...new Set(refused)], ['account'])
  // Of many accounts, at the same rate.
  const bodies = ['a', 'b', 'c', 'd', 'e'].map((account) => begin(account))
  const isOpen = ({ errors }: (typeof bodies)[number]) => errors.length === 0
  for (let n = 0; n < 12; n++) {
    pass(100)
    for (const body of bodies) body.continueWith(MEBIBYTE)
    t.ok(budget.bytes <= 28 * MEBIBYTE)
  }
  t.equal(bodies.filter(isOpen).length, 2, 'two whole bodies fit')
})

t.test('a small body does not end a large one of its account, unless that one has stalled', async (t) => {
  const { begin, pass } = aBudget()
  const large = begin('acme', MAX_MARKUP_BODY_BYTES)
  pass(1_000)
  t.throws(() => begin('acme', 1_000), unavailable)
  pass(20_000)
  begin('acme', 1_000)
  t.match(large.errors, [unavailable])
})

t.test('a large body of another account ends a half that has stalled', async (t) => {
  const { begin, pass, budget } = aBudget()
  const halves = ['acme', 'globex'].map((account) => begin(account, MAX_MARKUP_BODY_BYTES - 1))
  pass(500)
  const body = begin('initech')
  for (let n = 0; n < 12; n++) {
    pass(100)
    body.continueWith(2 ** 20)
  }
  t.strictSame(body.errors, [])
  t.match(halves[0]?.errors, [unavailable])
  t.ok(budget.bytes <= 28 * 2 ** 20)
})

t.test('a body that has arrived never ends for another one', async (t) => {
  const { begin, take, pass } = aBudget()
  const whole = take('acme', MAX_MARKUP_BODY_BYTES)
  pass(10_000)
  t.throws(() => begin('acme', 65_536), unavailable)
  t.strictSame(whole.errors, [])
})

t.test('a body of unknown length counts as it arrives, and is released once', async (t) => {
  const { budget } = aBudget()
  const lease = budget.take('acme')
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
    const lease = budget.take(name)
    lease.cover(bytes)
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

t.test('fast bodies of two accounts, several at a time, ended the only large body of a third', async (t) => {
  const { begin, pass } = aBudget()
  const slow = begin('initech')
  const fast = ['acme', 'globex', 'acme', 'globex', 'acme', 'globex'].map((account) => begin(account))
  const small = begin('hooli', 10_000)
  for (let n = 0; n < 40; n++) {
    pass(100)
    slow.continueWith(100_000)
    for (const body of fast) body.continueWith(200_000)
  }
  t.strictSame(slow.errors, [], '4 MB arrived')
  t.strictSame(small.errors, [], 'small bodies are left alone')
  for (const account of [0, 1])
    t.ok(fast.filter((body, n) => n % 2 === account && body.errors.length === 0).length >= 1, 'one of each account goes on')
})
