import t from 'tap'
import { renderTable, toCell, toDifference } from '../../bench/report/table.ts'

t.test('renderTable aligns numbers to the right and words to the left', async (t) => {
  const text = renderTable({
    title: 'Times',
    head: ['page', 'ms'],
    rows: [
      ['a', '5'],
      ['longer', '+1234'],
    ],
  })
  t.equal(text, ['**Times**', '', '| page   |    ms |', '| ------ | ----: |', '| a      |     5 |', '| longer | +1234 |'].join('\n'))
})

t.test('renderTable leaves the cell of a missing value empty', async (t) => {
  t.match(renderTable({ title: '', head: ['a', 'b'], rows: [['x']] }), /\| x {3}\| {5}\|/)
})

t.test('toCell rounds milliseconds and is empty for missing values', async (t) => {
  t.strictSame([1.4, 1.6, Number.NaN].map(toCell), ['1', '2', ''])
})

t.test('toDifference always has a sign', async (t) => {
  t.strictSame([3.2, -3.2, 0, -0.2, Number.NaN].map(toDifference), ['+3', '-3', '+0', '+0', ''])
})
