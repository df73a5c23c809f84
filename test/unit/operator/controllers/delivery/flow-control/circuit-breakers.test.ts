import t from 'tap'
import { CircuitBreakers } from '../../../../../../operator/src/controllers/delivery/flow-control/circuit-breakers.ts'
import { at } from '../../../../../support/fakes/builders.ts'

/** CircuitBreakers whose clock the test sets, in seconds after noon. */
function setUp() {
  const clock = { second: 0 }
  const reported: string[] = []
  const circuitBreakers = new CircuitBreakers({
    now: () => at(clock.second),
    onRelease: (key) => reported.push(key),
    onChange: (endpoint, isOpen) => reported.push(`${endpoint} ${isOpen ? 'open' : 'closed'}`),
  })
  const fail = (endpoint = 'hook', times = 10) => {
    for (let n = 0; n < times; n++) circuitBreakers.start(endpoint)(false)
  }
  return { clock, reported, circuitBreakers, fail }
}

t.test('CircuitBreakers delays the attempts of a failing endpoint, and of no other', async (t) => {
  const { circuitBreakers, fail, reported } = setUp()
  fail()
  t.strictSame(circuitBreakers.heldUntil('hook', at(0), 'a'), at(30))
  t.equal(circuitBreakers.heldUntil('other', at(0), 'a'), undefined)
  t.strictSame([circuitBreakers.isOpen('hook'), circuitBreakers.isOpen('other')], [true, false])
  t.strictSame(reported, ['hook open'])
})

t.test('CircuitBreakers releases waiting Screenshots as soon as the probe succeeds', async (t) => {
  const { circuitBreakers, fail, reported, clock } = setUp()
  fail()
  for (const key of ['a', 'b', 'a']) circuitBreakers.heldUntil('hook', at(0), key)
  clock.second = 30
  circuitBreakers.start('hook')(true)
  t.strictSame(reported, ['hook open', 'hook closed', 'a', 'b'])
})

t.test('CircuitBreakers releases waiting Screenshots when the probe was not sent, so that another one can probe', async (t) => {
  const { circuitBreakers, fail, reported, clock } = setUp()
  fail()
  clock.second = 30
  const end = circuitBreakers.start('hook')
  t.strictSame(circuitBreakers.heldUntil('hook', at(25), 'a'), at(55))
  end(undefined)
  t.strictSame(reported, ['hook open', 'a'])
  t.equal(circuitBreakers.heldUntil('hook', at(25), 'a'), undefined)
})

t.test('CircuitBreakers removes idle endpoints, and reports the end of their pause', async (t) => {
  const { circuitBreakers, fail, reported, clock } = setUp()
  fail()
  clock.second = 331
  circuitBreakers.forgetIdle()
  t.strictSame(reported, ['hook open', 'hook closed'])
  fail('hook', 9)
  t.notOk(circuitBreakers.isOpen('hook'), 'it counts from zero')
})

t.test('CircuitBreakers reports every open circuit when it is closed', async (t) => {
  const { circuitBreakers, fail, reported } = setUp()
  fail()
  circuitBreakers.close()
  t.strictSame(reported, ['hook open', 'hook closed'])
})

t.test('CircuitBreakers drops waiting Screenshots when a new pause begins, because they are due before its end', async (t) => {
  const { circuitBreakers, fail, reported, clock } = setUp()
  fail()
  circuitBreakers.heldUntil('hook', at(0), 'early')
  clock.second = 30
  circuitBreakers.start('hook')(false)
  circuitBreakers.heldUntil('hook', at(20), 'late')
  clock.second = 60
  circuitBreakers.start('hook')(true)
  t.strictSame(reported, ['hook open', 'hook closed', 'late'])
})
