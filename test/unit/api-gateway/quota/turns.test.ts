import t from 'tap'
import { Turns } from '../../../../api-gateway/src/quota/turns.ts'

t.test('turns do not hold up who writes alone', async (t) => {
  const turns = new Turns(() => 0.5)
  turns.noteUpdate(1_000, 20, 2)
  t.equal(turns.wait(1_000), 0)
})

t.test('turns let each of the others read and write once, after an update among others', async (t) => {
  const turns = new Turns(() => 0.5)
  turns.noteOther(900)
  turns.noteUpdate(1_000, 10, 2)
  t.equal(turns.wait(1_000), 40, 'two others, two requests each, 10 ms a request')
  t.equal(turns.wait(1_030), 10)
  t.equal(turns.wait(2_000), 0)
})

t.test('turns forget that there were others', async (t) => {
  const turns = new Turns(() => 0.5)
  turns.noteOther(0)
  turns.noteUpdate(3_000, 10, 1)
  t.equal(turns.wait(3_000), 0)
})

t.test('turns never last longer than half a second', async (t) => {
  const turns = new Turns(() => 1)
  turns.noteOther(0)
  turns.noteUpdate(0, 60_000, 50)
  t.equal(turns.wait(0), 500)
})
