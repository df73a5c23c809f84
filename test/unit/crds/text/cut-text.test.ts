import t from 'tap'
import { cutText } from '../../../../crds/src/text/cut-text.ts'

t.test('cutText leaves no half of a character', async (t) => {
  for (const [text, length, cut] of [
    ['abc', 3, 'abc'],
    ['abc', 2, 'ab'],
    ['ab😀', 4, 'ab😀'],
    ['ab😀', 3, 'ab'],
    ['😀', 1, ''],
    ['a\uD83D', 9, 'a\uFFFD'],
    ['\uDE00b', 9, '\uFFFDb'],
  ] as const) {
    t.equal(cutText(text, length), cut)
  }
})
