import t from 'tap'
import { inTurns } from '../../../../capture-runner/src/comparison/in-turns.ts'
import { compareSizes, isCanvasTooLarge } from '../../../../capture-runner/src/comparison/outside.ts'

const compare = (...input: Parameters<typeof compareSizes>) => inTurns(compareSizes(...input), AbortSignal.timeout(60_000))

const wide = { width: 10, height: 2 }
const tall = { width: 2, height: 10 }

t.test('isCanvasTooLarge allows a canvas as large as the largest picture', async (t) => {
  t.equal(isCanvasTooLarge({ width: 20_000, height: 10 }, { width: 10, height: 10_000 }), false)
  t.equal(isCanvasTooLarge({ width: 20_000, height: 10 }, { width: 10, height: 10_001 }), true)
})

t.test('compareSizes counts the pixels that only one picture has', async (t) => {
  const whole = { x: 0, y: 0, width: 10, height: 10 }
  t.strictSame(await compare(wide, tall, [], 0.001), {
    changed: true,
    changedPixels: 96,
    changedRatio: 0.96,
    sizeChanged: true,
    regions: [whole],
    regionCount: 1,
    rule: 'size',
  })
  t.match(await compare(wide, tall, [], 0.96), { changed: false, changedPixels: 96 }, 'up to the threshold')
  t.match(await compare(wide, tall, [{ ...whole, width: 99, height: 99 }], 0), { changed: false, changedPixels: 0, regions: [] })
})

t.test('compareSizes counts no ignored pixel, and none twice', async (t) => {
  const boxes = [
    { x: 1, y: 1, width: 3, height: 3 },
    { x: 3, y: 3, width: 2, height: 2 },
    { x: 3, y: 0, width: 1, height: 4 },
    { x: 9, y: 9, width: 5, height: 5 },
    { x: 50, y: 50, width: 5, height: 5 },
  ]
  const isIgnored = (x: number, y: number) => boxes.some((b) => x >= b.x && y >= b.y && x < b.x + b.width && y < b.y + b.height)
  const pixels = Array.from({ length: 100 }, (_, index) => [index % 10, Math.floor(index / 10)] as const)
  const counted = pixels.filter(([x, y]) => (x >= 2 || y >= 2) && !isIgnored(x, y)).length
  t.match(await compare(wide, tall, boxes, 0), { changedPixels: counted })
})
