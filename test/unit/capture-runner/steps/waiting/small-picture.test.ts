import t from 'tap'
import { isSameRaster, type Raster } from '../../../../../capture-runner/src/steps/waiting/small-picture.ts'

const raster = (paint: (x: number, y: number) => number): Raster => {
  const data = new Uint8Array(100 * 50 * 3)
  for (let i = 0; i < data.length; i++) data[i] = paint(Math.floor(i / 3) % 100, Math.floor(i / 300))
  return { data, width: 100, height: 50, channels: 3 }
}
const plain = raster(() => 100)

t.test('isSameRaster tolerates antialiasing, but not one step of a pale fade', async (t) => {
  t.ok(isSameRaster(plain, plain, []))
  t.ok(
    isSameRaster(
      plain,
      raster(() => 101),
      [],
    ),
  )
  t.notOk(
    isSameRaster(
      plain,
      raster(() => 102),
      [],
    ),
  )
  t.ok(
    isSameRaster(
      plain,
      raster((x, y) => (y === 0 && x < 8 ? 255 : 100)),
      [],
    ),
  )
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
