import t from 'tap'
import { shareStrings } from '../../../../operator/src/kube/share-strings.ts'

// How much memory this saves is tested in test/unit/operator/controllers/schedule/memory.test.ts.

t.test('shareStrings leaves an equal object', async (t) => {
  const anObject = () => ({
    metadata: { name: 'a name that is long enough', labels: { app: 'x' }, uid: '' },
    status: { conditions: [{ message: 'The last run completed.' }, null, 'The last run completed.', 7, true], none: undefined },
    long: 'x'.repeat(10_000),
  })
  const object = anObject()
  t.equal(shareStrings(object), object)
  t.strictSame(object, anObject())
})

t.test('shareStrings leaves equal objects, however many different strings it has seen', async (t) => {
  const objects = () => Array.from({ length: 10_000 }, (_, n) => ({ text: `the text with the number ${n}` }))
  const texts = objects().map(shareStrings)
  t.ok(objects().every(({ text }, n) => texts[n]?.text === text))
})
