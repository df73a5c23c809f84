import t from 'tap'
import { contradictions } from '../../../../crds/src/options/contradictions.ts'
import { CONTRADICTION_CASES } from '../../../support/sources/contradiction-cases.ts'

t.test('contradictions hold in their own cases only', async (t) => {
  const found = CONTRADICTION_CASES.map(({ options }) => ({
    options,
    contradicts: contradictions.filter((contradiction) => contradiction.holds(options)).map(({ code }) => code),
  }))
  t.strictSame(found, CONTRADICTION_CASES)
})

t.test('every contradiction has a case in which it holds', async (t) => {
  const covered = new Set(CONTRADICTION_CASES.flatMap(({ contradicts }) => contradicts))
  t.strictSame(
    contradictions.filter(({ code }) => !covered.has(code)).map(({ code }) => code),
    [],
  )
})
