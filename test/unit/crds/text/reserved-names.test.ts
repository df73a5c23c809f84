import t from 'tap'
import { findIllFormedText, findReservedName } from '../../../../crds/src/text/reserved-names.ts'

const cases: [text: string, path: (string | number)[] | undefined][] = [
  ['{"options":{"headers":{"__proto__":"x"}}}', ['options', 'headers', '__proto__']],
  ['{"options":{"headers":{"\\u005f_proto__":"x"}}}', ['options', 'headers', '__proto__']],
  ['{"constructor":{}}', ['constructor']],
  ['{"urls":[{},{"a":[0,{"prototype":1}]}]}', ['urls', 1, 'a', 1, 'prototype']],
  ['{"options":{"html":"__proto__ constructor"}}', undefined],
  ['{"options":{"a":{"toString":1,"hasOwnProperty":1,"__proto":1}}}', undefined],
  ['["__proto__"]', undefined],
  ['null', undefined],
]
for (const [text, path] of cases) {
  t.test(`findReservedName ${path === undefined ? 'passes' : `finds ${path.join('.')} in`} ${text}`, async (t) => {
    t.strictSame(findReservedName(JSON.parse(text)), path)
  })
}

t.test('findReservedName reads no deeper than any schema, so that a deep value does not overflow the stack', async (t) => {
  const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}{"__proto__":1}${']'.repeat(depth)}`)
  t.equal(findReservedName(nested(60))?.length, 61)
  t.equal(findReservedName(nested(200_000)), undefined)
})

const texts: [text: string, path: (string | number)[] | undefined][] = [
  ['{"options":{"html":"\\ud83d"}}', ['options', 'html']],
  ['{"urls":["a","\\ude00b"]}', ['urls', 1]],
  ['{"a":{"\\ud83d":1}}', ['a', '\ud83d']],
  ['"\\ud83d"', []],
  ['{"a":["\\ud83d\\ude00","😀"]}', undefined],
]
for (const [text, path] of texts) {
  t.test(`findIllFormedText ${path === undefined ? 'passes' : `finds half of a pair at ${JSON.stringify(path)} in`} ${text}`, async (t) => {
    t.strictSame(findIllFormedText(JSON.parse(text)), path)
  })
}
