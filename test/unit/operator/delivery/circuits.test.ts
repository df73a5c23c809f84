import t from 'tap'
import { Circuits } from '../../../../operator/src/delivery/circuits.ts'
import { at } from '../../../support/builders.ts'

/** Circuits whose clock the test sets, in seconds after noon. */
function aBoard() {
  const clock = { second: 0 }
  const told: string[] = []
  const circuits = new Circuits({
    now: () => at(clock.second),
    onRelease: (key) => told.push(key),
    onChange: (endpoint, isOpen) => told.push(`${endpoint} ${isOpen ? 'open' : 'closed'}`),
  })
  const fail = (endpoint = 'hook', times = 10) => {
    for (let n = 0; n < times; n++) circuits.start(endpoint)(false)
  }
  return { clock, told, circuits, fail }
}

t.test('Circuits holds the attempts of a failing endpoint, and of no other', async (t) => {
  const { circuits, fail, told } = aBoard()
  fail()
  t.strictSame(circuits.heldUntil('hook', at(0), 'a'), at(30))
  t.equal(circuits.heldUntil('other', at(0), 'a'), undefined)
  t.strictSame([circuits.isOpen('hook'), circuits.isOpen('other')], [true, false])
  t.strictSame(told, ['hook open'])
})

t.test('Circuits calls who waited as soon as the probe has succeeded', async (t) => {
  const { circuits, fail, told, clock } = aBoard()
  fail()
  for (const key of ['a', 'b', 'a']) circuits.heldUntil('hook', at(0), key)
  clock.second = 30
  circuits.start('hook')(true)
  t.strictSame(told, ['hook open', 'hook closed', 'a', 'b'])
})

t.test('Circuits calls who waited when the probe was given up, so that another tries', async (t) => {
  const { circuits, fail, told, clock } = aBoard()
  fail()
  clock.second = 30
  const end = circuits.start('hook')
  t.strictSame(circuits.heldUntil('hook', at(25), 'a'), at(55))
  end(undefined)
  t.strictSame(told, ['hook open', 'a'])
  t.equal(circuits.heldUntil('hook', at(25), 'a'), undefined)
})

t.test('Circuits forgets what is long over, and tells of a pause that ends so', async (t) => {
  const { circuits, fail, told, clock } = aBoard()
  fail()
  clock.second = 331
  circuits.sweep()
  t.strictSame(told, ['hook open', 'hook closed'])
  fail('hook', 9)
  t.notOk(circuits.isOpen('hook'), 'it counts anew')
})

t.test('Circuits that close tell so of every open one', async (t) => {
  const { circuits, fail, told } = aBoard()
  fail()
  circuits.close()
  t.strictSame(told, ['hook open', 'hook closed'])
})

t.test('Circuits forgets who waited when a new pause begins: they are due before its end', async (t) => {
  const { circuits, fail, told, clock } = aBoard()
  fail()
  circuits.heldUntil('hook', at(0), 'early')
  clock.second = 30
  circuits.start('hook')(false)
  circuits.heldUntil('hook', at(20), 'late')
  clock.second = 60
  circuits.start('hook')(true)
  t.strictSame(told, ['hook open', 'hook closed', 'late'])
})
