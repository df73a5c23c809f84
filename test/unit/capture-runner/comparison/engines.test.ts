import t from 'tap'
import { comparePictures } from '../../../../capture-runner/src/comparison/compare.ts'
import { decideEngine, evaluateEngine, toTolerances } from '../../../../capture-runner/src/comparison/decide.ts'
import { isSameEngine } from '../../../../crds/src/kinds/comparison.ts'
import { BLACK, Drawing } from '../../../support/drawing.ts'
import { GRAY, GREEN, RED } from './drawn-pages.ts'

// Pictures that another browser or other fonts drew.

async function compare(before: Drawing, after: Drawing, textChanged: boolean | undefined) {
  const settings = { ...toTolerances(0.1, 'none'), antialiasing: false, ignored: [], forgivesOffsets: true }
  const changed = await comparePictures(before, after, settings, AbortSignal.timeout(60_000))
  return decideEngine(changed, evaluateEngine(changed, undefined, textChanged), textChanged)
}

/** A page whose text moves down by more from line to line, as with a font of another height, and whose shapes are between pixels. */
function page(offset: number, more: (drawing: Drawing) => void = () => {}): Drawing {
  const drawing = new Drawing(600, 400).ring(500 + offset * 0.4, 80, 40, 6, GREEN).box(40, 300 + offset * 0.5, 120, 40, GRAY)
  for (let line = 0; line < 6; line++) {
    drawing.text('ALL 1234 NOBLE SEATS SOLD', 20 + offset, 40 + line * 20 + Math.round(offset * line * 0.4), 12)
  }
  more(drawing)
  return drawing
}

t.test('other fonts, which move text by a pixel or two, were a change', async (t) => {
  t.match(await compare(page(0), page(1), false), { changed: false, rule: 'engine', regionCount: 0 })
  const byPixel = (offset: number) =>
    new Drawing(600, 400).text('NOBLE SEATS', 20 + offset, 40, 12).ring(500 + offset * 0.4, 80, 40, 6, GREEN)
  t.match(await compare(byPixel(0), byPixel(1), undefined), { changed: false }, 'without words, a pixel is tolerated')
})

t.test('a change that comes with another browser is reported', async (t) => {
  const changes: Record<string, (drawing: Drawing) => void> = {
    badge: (d) => d.box(300, 250, 14, 14, RED),
    banner: (d) => d.box(200, 320, 300, 50, [255, 246, 224]),
    picture: (d) => d.box(400, 200, 80, 60, BLACK),
    'color of a button': (d) => d.box(40, 300, 120, 41, RED),
  }
  for (const [name, change] of Object.entries(changes)) {
    t.match(await compare(page(0), page(1, change), false), { changed: true, rule: 'engine' }, name)
  }
  t.match(await compare(page(0), page(1), true), { changed: true, rule: 'engine' }, 'words')
})

t.test('isSameEngine says if both are known', async (t) => {
  const engine = { chromium: '150.0.1', runner: '0.1.0', architecture: 'x64', fonts: 'a' }
  t.equal(isSameEngine(engine, { ...engine }), true)
  for (const field of ['chromium', 'runner', 'architecture', 'fonts'])
    t.equal(isSameEngine(engine, { ...engine, [field]: 'b' }), false, field)
  t.equal(isSameEngine(undefined, engine), undefined)
  t.equal(isSameEngine(engine, undefined), undefined)
})
