import t from 'tap'
import { WriteRoundRobin } from '../../../../api-gateway/src/quota/quota-ledger.ts'

t.test('WriteRoundRobin does not delay a single writer', async (t) => {
  const roundRobin = new WriteRoundRobin(() => 0.5)
  roundRobin.noteOwnWrite(1_000, 20, 'a', ['b', 'c'])
  t.equal(roundRobin.delay(1_000), 0)
})

t.test('WriteRoundRobin leaves every other writer time for one read and one write', async (t) => {
  const roundRobin = new WriteRoundRobin(() => 0.5)
  roundRobin.noteForeignWrite(900)
  roundRobin.noteOwnWrite(1_000, 10, 'a', ['b', 'c'])
  t.equal(roundRobin.delay(1_000), 40, 'two others, two requests each, 10 ms a request')
  t.equal(roundRobin.delay(1_030), 10)
  t.equal(roundRobin.delay(2_000), 0)
})

t.test('WriteRoundRobin stops waiting two seconds after the last foreign write', async (t) => {
  const roundRobin = new WriteRoundRobin(() => 0.5)
  roundRobin.noteForeignWrite(0)
  roundRobin.noteOwnWrite(3_000, 10, 'a', ['b'])
  t.equal(roundRobin.delay(3_000), 0)
})

t.test('WriteRoundRobin waits at most 1.5 seconds', async (t) => {
  const roundRobin = new WriteRoundRobin(() => 1)
  roundRobin.noteForeignWrite(0)
  roundRobin.noteOwnWrite(0, 60_000, 'a', ['b', 'c', 'd'])
  t.equal(roundRobin.delay(0), 1_500)
})

t.test('WriteRoundRobin goes by name order, and the next writer starts at once', async (t) => {
  const waitOf = (own: string, others: readonly string[], writer: string) => {
    const roundRobin = new WriteRoundRobin(() => 0.5)
    roundRobin.noteForeignWrite(900)
    roundRobin.noteOwnWrite(1_000, 10, own, others)
    roundRobin.noteWriterProgress(1_005, writer)
    return roundRobin.delay(1_005)
  }
  t.equal(waitOf('b', ['c', 'a'], 'a'), 0)
  t.equal(waitOf('a', ['b', 'c'], 'c'), 0, 'the last goes before the first')
  t.equal(waitOf('b', ['c', 'a'], 'c'), 20, 'one is still before us')
  t.equal(waitOf('a', ['b', 'c', 'd'], 'b'), 40, 'two are')
  t.equal(waitOf('a', ['b', 'c'], 'x'), 35, 'a stranger: nothing is known')
})

t.test('WriteRoundRobin does not start waiting because of foreign writes', async (t) => {
  const roundRobin = new WriteRoundRobin(() => 0.5)
  roundRobin.noteForeignWrite(900)
  roundRobin.noteOwnWrite(1_000, 10, 'a', ['b', 'c'])
  roundRobin.noteWriterProgress(1_050, 'b')
  t.equal(roundRobin.delay(1_050), 0)
})
