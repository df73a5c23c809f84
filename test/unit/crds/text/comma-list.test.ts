import t from 'tap'
import { CommaList, splitList } from '../../../../crds/src/text/comma-list.ts'

t.test('splitList drops blanks and empty items', async (t) => {
  t.strictSame(splitList(' a, b c ,,d,'), ['a', 'b c', 'd'])
  t.strictSame(splitList(' '), [])
})

t.test('CommaList is empty when the variable is absent', async (t) => {
  t.strictSame(CommaList.parse(undefined), [])
  t.strictSame(CommaList.parse('10.0.0.0/8, 192.0.2.0/24'), ['10.0.0.0/8', '192.0.2.0/24'])
})
