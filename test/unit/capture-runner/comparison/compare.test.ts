import t from 'tap'
import { comparePictures } from '../../../../capture-runner/src/comparison/compare.ts'
import type { DecodedPicture } from '../../../../capture-runner/src/comparison/decoded-picture.ts'

const SETTINGS = { colorTolerance: 0, antialiasing: true, ignored: [] }

/** A picture of one color. Records the bytes of the largest read. */
const aPicture = (width: number, height: number): DecodedPicture & { largest: number } => ({
  width,
  height,
  mayBeTransparent: false,
  largest: 0,
  async readRows(_top, count, wanted) {
    this.largest = Math.max(this.largest, count * width * 4)
    return Buffer.alloc(count * wanted * 4, 200)
  },
})

t.test('a wide and a tall picture blocked the event loop of the runner', async (t) => {
  const comparing = comparePictures(aPicture(3_000, 10), aPicture(10, 3_000), SETTINGS, AbortSignal.timeout(60_000))
  let turns = 0
  let isRunning = true
  const count = () => {
    turns++
    if (isRunning) setImmediate(count)
  }
  setImmediate(count)
  const { count: changed } = await comparing
  isRunning = false
  t.equal(changed, 3_000 * 3_000 - 100)
  t.ok(turns > 10, `${turns} turns of the event loop`)
})

t.test('a narrow picture made the runner read thousands of rows of a wide one at once', async (t) => {
  const wide = aPicture(20_000, 2_000)
  await comparePictures(wide, aPicture(10, 2_000), SETTINGS, AbortSignal.timeout(60_000))
  t.ok(wide.largest < 8_000_000, `${wide.largest} bytes`)
})

t.test('comparePictures ends with its signal while it counts what only one picture has', async (t) => {
  const cancel = new AbortController()
  const comparing = comparePictures(aPicture(3_000, 10), aPicture(10, 3_000), SETTINGS, cancel.signal)
  setImmediate(() => cancel.abort(new Error('canceled')))
  await t.rejects(comparing, { message: 'canceled' })
})
