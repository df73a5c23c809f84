import t from 'tap'
import { Setbacks } from '../../../../operator/src/screenshot/setbacks.ts'

t.test('Setbacks lets an account be charged that nothing has befallen', async (t) => {
  const setbacks = new Setbacks()
  setbacks.onFailed('other', 0)
  t.ok(setbacks.mayTry('acme', 0))
  t.ok(setbacks.mayTry('acme', 0))
})

t.test('Setbacks waits longer after each failure, up to a minute', async (t) => {
  const setbacks = new Setbacks()
  const waits = Array.from({ length: 9 }, () => {
    setbacks.onFailed('acme', 0)
    return setbacks.waitOf('acme', 0)
  })
  t.strictSame(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
})

t.test('Setbacks lets one try at a time, until it goes well', async (t) => {
  const setbacks = new Setbacks()
  setbacks.onFailed('acme', 0)
  t.notOk(setbacks.mayTry('acme', 999))
  t.ok(setbacks.mayTry('acme', 1_000))
  t.notOk(setbacks.mayTry('acme', 1_001))
  t.ok(setbacks.mayTry('acme', 1_001 + setbacks.waitOf('acme', 1_001)), 'a trial of which nothing is heard holds up nobody for ever')
  setbacks.onAnswered('acme')
  t.ok(setbacks.mayTry('acme', 1_002))
  t.ok(setbacks.mayTry('acme', 1_002))
})
