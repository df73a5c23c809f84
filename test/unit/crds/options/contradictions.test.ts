import t from 'tap'
import { contradictions } from '../../../../crds/src/options/contradictions.ts'
import { CONTRADICTION_CASES } from '../../../support/sources/contradiction-cases.ts'

t.test('contradictions hold in their own cases only', async (t) => {
  for (const { options, contradicts } of CONTRADICTION_CASES) {
    const held = contradictions.filter((contradiction) => contradiction.holds(options)).map(({ code }) => code)
    t.strictSame(held, contradicts, JSON.stringify(options))
  }
})

t.test('every contradiction has a case in which it holds', async (t) => {
  const covered = new Set(CONTRADICTION_CASES.flatMap(({ contradicts }) => contradicts))
  for (const { code } of contradictions) t.ok(covered.has(code), code)
})
