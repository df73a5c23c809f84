import t from 'tap'
import { applyMergePatch, toMergePatch } from '../../../../crds/src/schema/merge-patch.ts'

/** The test cases of RFC 7396, appendix A. */
const cases: [target: unknown, patch: unknown, result: unknown][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
]
for (const [target, patch, result] of cases) {
  t.test(`a merge patch ${JSON.stringify(patch)} of ${JSON.stringify(target)} gives what the RFC says`, async (t) => {
    const before = JSON.stringify(target)
    t.strictSame(applyMergePatch(target, patch), result)
    t.equal(JSON.stringify(target), before, 'the target stays')
  })
}

t.test('toMergePatch names only what differs, and applying it gives the other object', async (t) => {
  const before = { same: [1], changed: 1, gone: true, unset: undefined, deep: { kept: 1, gone: 2 }, list: [1, 2] }
  const after = { same: [1], changed: 2, deep: { kept: 1, added: 3 }, list: [2], added: { a: 1 } }
  const patch = toMergePatch(before, after)
  t.strictSame(patch, { changed: 2, gone: null, deep: { gone: null, added: 3 }, list: [2], added: { a: 1 } })
  t.strictSame(applyMergePatch(JSON.parse(JSON.stringify(before)), patch), after)
  t.strictSame(toMergePatch(after, after), {})
})
