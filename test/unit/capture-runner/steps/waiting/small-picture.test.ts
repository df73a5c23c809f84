import t from 'tap'
import { findDifferentAreas, type Raster } from '../../../../../capture-runner/src/steps/waiting/small-picture.ts'

const raster = (paint: (x: number, y: number) => number): Raster => {
  const data = new Uint8Array(100 * 50 * 3)
  for (let i = 0; i < data.length; i++) data[i] = paint(Math.floor(i / 3) % 100, Math.floor(i / 300))
  return { data, width: 100, height: 50, channels: 3 }
}
const plain = raster(() => 100)
const isSameRaster = (...pair: Parameters<typeof findDifferentAreas>): boolean => findDifferentAreas(...pair).length === 0

t.test('isSameRaster tolerates antialiasing, but not one step of a pale fade', async (t) => {
  const isSameAs = (paint: (x: number, y: number) => number) => isSameRaster(plain, raster(paint), [])
  t.ok(isSameAs(() => 100))
  t.ok(isSameAs(() => 101))
  t.notOk(isSameAs(() => 102))
  t.ok(isSameAs((x, y) => (y === 0 && x < 8 ? 255 : 100)))
})

t.test('isSameRaster detects a few changed pixels, except in ignored areas', async (t) => {
  const changed = raster((x, y) => (x >= 50 && x < 60 && y >= 20 && y < 30 ? 255 : 100))
  t.notOk(isSameRaster(plain, changed, []))
  t.ok(isSameRaster(plain, changed, [{ left: 0.5, top: 0.4, right: 0.6, bottom: 0.6 }]))
  t.notOk(isSameRaster(plain, changed, [{ left: 0, top: 0, right: 0.1, bottom: 0.1 }]))
})

t.test('isSameRaster distinguishes sizes', async (t) => {
  t.notOk(isSameRaster(plain, { ...plain, width: 50, height: 100 }, []))
})

t.test('findDifferentAreas says where pictures differ, one area for each moving part', async (t) => {
  const squares = raster((x, y) => (y >= 20 && y < 30 && ((x >= 10 && x < 20) || (x >= 24 && x < 26) || (x >= 80 && x < 90)) ? 255 : 100))
  t.strictSame(
    findDifferentAreas(plain, squares, []),
    [
      { left: 0.8, top: 0.4, right: 0.9, bottom: 0.6 },
      { left: 0.1, top: 0.4, right: 0.26, bottom: 0.6 },
    ].toSorted((one, other) => one.left - other.left),
  )
  t.strictSame(findDifferentAreas(plain, { ...plain, width: 50, height: 100 }, []), [{ left: 0, top: 0, right: 1, bottom: 1 }])
  const dots = raster((x, y) => ((x + y) % 12 === 0 ? 255 : 100))
  t.strictSame(findDifferentAreas(plain, dots, []), [{ left: 0, top: 0, right: 1, bottom: 1 }], 'parts near each other are one area')
})
