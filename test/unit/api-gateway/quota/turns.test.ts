import t from 'tap'
import { Turns } from '../../../../api-gateway/src/quota/turns.ts'

t.test('turns do not hold up who writes alone', async (t) => {
  const turns = new Turns(() => 0.5)
  turns.noteUpdate(1_000, 20, 'a', ['b', 'c'])
  t.equal(turns.wait(1_000), 0)
})

t.test('turns let each of the others read and write once, after an update among others', async (t) => {
  const turns = new Turns(() => 0.5)
  turns.noteOther(900)
  turns.noteUpdate(1_000, 10, 'a', ['b', 'c'])
  t.equal(turns.wait(1_000), 40, 'two others, two requests each, 10 ms a request')
  t.equal(turns.wait(1_030), 10)
  t.equal(turns.wait(2_000), 0)
})

t.test('turns forget that there were others', async (t) => {
  const turns = new Turns(() => 0.5)
  turns.noteOther(0)
  turns.noteUpdate(3_000, 10, 'a', ['b'])
  t.equal(turns.wait(3_000), 0)
})

t.test('turns never last longer than a second and a half', async (t) => {
  const turns = new Turns(() => 1)
  turns.noteOther(0)
  turns.noteUpdate(0, 60_000, 'a', ['b', 'c', 'd'])
  t.equal(turns.wait(0), 1_500)
})

t.test('turns go round in the order of names: who is next begins at once', async (t) => {
  const waitOf = (own: string, others: readonly string[], writer: string) => {
    const turns = new Turns(() => 0.5)
    turns.noteOther(900)
    turns.noteUpdate(1_000, 10, own, others)
    turns.noteWriter(1_005, writer)
    return turns.wait(1_005)
  }
  t.equal(waitOf('b', ['c', 'a'], 'a'), 0)
  t.equal(waitOf('a', ['b', 'c'], 'c'), 0, 'the last goes before the first')
  t.equal(waitOf('b', ['c', 'a'], 'c'), 20, 'one is still before us')
  t.equal(waitOf('a', ['b', 'c', 'd'], 'b'), 40, 'two are')
  t.equal(waitOf('a', ['b', 'c'], 'x'), 35, 'a stranger: nothing is known')
})

t.test('turns do not begin to wait because of what others write', async (t) => {
  const turns = new Turns(() => 0.5)
  turns.noteOther(900)
  turns.noteUpdate(1_000, 10, 'a', ['b', 'c'])
  turns.noteWriter(1_050, 'b')
  t.equal(turns.wait(1_050), 0)
})
