import { Readable } from 'node:stream'
import t from 'tap'
import { readAtMost, readBeginning, TooLongError } from '../../../../crds/src/runtime/limited-read.ts'

const stream = (...parts: string[]): Readable => Readable.from(parts.map((part) => Buffer.from(part)))

t.test('readAtMost gives a body that is as long as it may be, and refuses one more byte', async (t) => {
  t.equal((await readAtMost(stream('abc', 'de'), 5)).toString(), 'abcde')
  const long = stream('abc', 'def', 'ghi')
  await t.rejects(readAtMost(long, 5), TooLongError)
  t.ok(long.destroyed, 'nobody sends the rest')
})

t.test('readBeginning gives the beginning, and ends what is longer', async (t) => {
  t.equal((await readBeginning(stream('abc', 'de'), 9)).toString(), 'abcde')
  const long = stream('abc', 'def', 'ghi')
  t.equal((await readBeginning(long, 5)).toString(), 'abcde')
  t.ok(long.destroyed, 'nobody sends the rest')
})
