import t from 'tap'
import { ChangeFinder } from '../../../../capture-runner/src/comparison/change-finder.ts'
import { allocateRows, toPixels } from '../../../../capture-runner/src/comparison/decoded-picture.ts'

t.test('rows of few colors have the same changed pixels if they are compared in two passes', async (t) => {
  const [width, rows] = [120, 80]
  const draw = (seed: number) => {
    const buffer = allocateRows(rows, width)
    const pixels = toPixels(buffer)
    for (let at = 0; at < pixels.length; at++) {
      const mixed = Math.imul(at + 1, 0x9e3779b1 + 2 * seed)
      // Blocks with other pixels between them, so that some are beside an area of one color.
      pixels[at] = [0xffffffff, 0xff909090, 0xff000000][at % 9 < 5 ? Math.floor(at / 9) % 3 : ((mixed ^ (mixed >>> 15)) >>> 7) % 3]!
    }
    return buffer
  }
  const count = (maxSteps: number, antialiasing: boolean) => {
    const finder = new ChangeFinder({ colorTolerance: 0.1, antialiasing, ignored: [] }, { width, rows, isOpaque: true, maxSteps })
    const { mask } = finder.find([draw(1), draw(977)], { top: 0, bottom: rows, from: 0, width })
    return { changed: mask.filter((pixel) => pixel !== 0).length, isLimited: finder.isLimited }
  }
  const onePass = count(Number.POSITIVE_INFINITY, false)
  // Of 9,600 pixels. With a quarter of the steps, one pass would not end.
  t.strictSame(count(25_000, false), onePass)
  t.ok(count(25_000, true).changed > onePass.changed, 'some are smooth edges')
  t.match(count(1_000, false), { isLimited: true })
})
