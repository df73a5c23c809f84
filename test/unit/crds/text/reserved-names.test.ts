import t from 'tap'
import { findReservedName, mayHoldReservedName } from '../../../../crds/src/text/reserved-names.ts'

const find = (text: string) => (mayHoldReservedName(text) ? findReservedName(JSON.parse(text)) : undefined)

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
    t.strictSame(find(text), path)
  })
}

t.test('findReservedName reads values of any depth', async (t) => {
  const depth = 200_000
  t.equal(find(`${'['.repeat(depth)}{"__proto__":1}${']'.repeat(depth)}`)?.length, depth + 1)
})
