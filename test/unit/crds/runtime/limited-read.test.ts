import { Readable } from 'node:stream'
import t from 'tap'
import { readAtMost, readBeginning, TooLongError } from '../../../../crds/src/runtime/limited-read.ts'

const stream = (...parts: string[]): Readable => Readable.from(parts.map((part) => Buffer.from(part)))

t.test('readAtMost accepts a body of the maximum length, and refuses one more byte', async (t) => {
  t.equal((await readAtMost(stream('abc', 'de'), 5)).toString(), 'abcde')
  const long = stream('abc', 'def', 'ghi')
  await t.rejects(readAtMost(long, 5), TooLongError)
  t.ok(long.destroyed, 'nobody sends the rest')
})

t.test('readBeginning returns the beginning, and destroys a longer stream', async (t) => {
  t.equal((await readBeginning(stream('abc', 'de'), 9)).toString(), 'abcde')
  const long = stream('abc', 'def', 'ghi')
  t.equal((await readBeginning(long, 5)).toString(), 'abcde')
  t.ok(long.destroyed, 'nobody sends the rest')
})
