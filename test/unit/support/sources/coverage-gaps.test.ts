import t from 'tap'
import { type FileCoverage, findGaps } from '../../../support/sources/coverage-gaps.ts'

const at = (line: number) => ({ start: { line } })
const whole: FileCoverage = {
  statementMap: { 0: at(1), 1: at(2), 2: at(3) },
  s: { 0: 1, 1: 1, 2: 1 },
  branchMap: { 0: { locations: [at(1)] }, 1: { locations: [at(2), at(3)] } },
  b: { 0: [1], 1: [4, 1] },
  fnMap: { 0: { loc: at(2) } },
  f: { 0: 4 },
}

t.test('findGaps returns nothing for a fully covered file', async (t) => {
  t.strictSame(findGaps({ 'a.ts': whole }, ['a.ts']), [])
})

t.test('findGaps names the uncovered lines, branches and functions of a file', async (t) => {
  const partly = { ...whole, s: { 0: 1, 1: 0, 2: 0 }, b: { 0: [1], 1: [4, 0] }, f: { 0: 0 } }
  t.strictSame(findGaps({ 'a.ts': whole, 'b.ts': partly }, ['a.ts', 'b.ts']), [
    'b.ts: 33.3 % of lines and statements, not line 2, 3; 66.6 % of branches, not line 3; 0 % of functions, not line 2',
  ])
})

t.test('findGaps names a file that no test loads', async (t) => {
  t.strictSame(findGaps({}, ['a.ts']), ['a.ts: no test loads it'])
})
