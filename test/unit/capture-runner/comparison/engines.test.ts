import t from 'tap'
import { comparePictures } from '../../../../capture-runner/src/comparison/compare.ts'
import { decideEngine, evaluateEngine, toTolerances } from '../../../../capture-runner/src/comparison/decide.ts'
import { inTurns } from '../../../../capture-runner/src/comparison/in-turns.ts'
import { isSameEngine } from '../../../../crds/src/kinds/comparison.ts'
import { BLACK, Drawing } from '../../../support/drawing.ts'
import { GRAY, GREEN, RED } from './drawn-pages.ts'

// Pictures that another browser or other fonts drew.

async function compare(before: Drawing, after: Drawing, textChanged: boolean | undefined) {
  const settings = { ...toTolerances(0.1, 'none', true), antialiasing: false, ignored: [], forgivesOffsets: true }
  const signal = AbortSignal.timeout(60_000)
  const changed = await comparePictures(before, after, settings, signal)
  return decideEngine(changed, await inTurns(evaluateEngine(changed, undefined, textChanged), signal), textChanged)
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

t.test('words that change with another browser are reported', async (t) => {
  t.match(await compare(page(0), page(1), true), { changed: true, rule: 'engine' })
})

t.test('twenty changes of shapes that come with other fonts, which move the text by a pixel, are each reported', async (t) => {
  const button = (left: number) => (d: Drawing) => d.box(left, 240, 90, 28, [10, 88, 202]).text('ALL', left + 20, 248, 12, [255, 255, 255])
  const photo = (d: Drawing) => {
    for (let n = 0; n < 24; n++)
      d.box(300 + (n % 6) * 12, 180 + Math.floor(n / 6) * 12, 12, 12, [(n * 53) % 256, (n * 97) % 256, (n * 31) % 256])
  }
  const nothing = () => {}
  const changes: Record<string, [before: (d: Drawing) => void, after: (d: Drawing) => void]> = {
    'a button that moved to the right': [button(300), button(312)],
    'a button that moved to the left': [button(312), button(300)],
    'a button that moved down': [button(300), (d) => d.box(300, 252, 90, 28, [10, 88, 202]).text('ALL', 320, 260, 12, [255, 255, 255])],
    'a button of another color': [button(300), (d) => d.box(300, 240, 90, 28, [25, 135, 84]).text('ALL', 320, 248, 12, [255, 255, 255])],
    'a button that is gone': [button(300), nothing],
    'a new button': [nothing, button(300)],
    'a missing photo': [photo, nothing],
    'another photo': [photo, (d) => d.box(300, 180, 72, 48, GRAY)],
    'a badge': [nothing, (d) => d.box(300, 250, 10, 10, RED)],
    'a badge that is gone': [(d) => d.box(300, 250, 10, 10, RED), nothing],
    'a check mark': [(d) => d.box(300, 250, 14, 14, GRAY), (d) => d.box(300, 250, 14, 14, GREEN)],
    'a line below a link': [nothing, (d) => d.box(300, 250, 80, 2, BLACK)],
    'a dark banner': [nothing, (d) => d.box(0, 360, 600, 40, BLACK)],
    'a pale banner': [nothing, (d) => d.box(0, 360, 600, 40, [255, 246, 224])],
    'a longer bar': [(d) => d.box(300, 250, 100, 12, GREEN), (d) => d.box(300, 250, 120, 12, GREEN)],
    'a bar of a chart': [(d) => d.box(300, 250, 20, 60, GREEN), (d) => d.box(300, 238, 20, 72, GREEN)],
    'a status dot': [(d) => d.ring(320, 260, 4, 8, GREEN), (d) => d.ring(320, 260, 4, 8, RED)],
    'a frame': [nothing, (d) => d.box(300, 240, 100, 4, RED).box(300, 280, 100, 4, RED)],
    'a filled star': [(d) => d.box(300, 250, 18, 18, [184, 184, 184]), (d) => d.box(300, 250, 18, 18, [224, 160, 0])],
    'an overlay': [nothing, (d) => d.box(150, 60, 300, 200, [240, 240, 240])],
  }
  for (const [name, [before, after]] of Object.entries(changes)) {
    t.match(await compare(page(0, before), page(1, after), false), { changed: true, rule: 'engine' }, name)
    t.match(await compare(page(0, before), page(1, before), false), { changed: false }, `${name}: control`)
  }
})

t.test('isSameEngine says if both are known', async (t) => {
  const engine = { chromium: '150.0.1', runner: '0.1.0', architecture: 'x64', fonts: 'a' }
  t.equal(isSameEngine(engine, { ...engine }), true)
  for (const field of ['chromium', 'runner', 'architecture', 'fonts'])
    t.equal(isSameEngine(engine, { ...engine, [field]: 'b' }), false, field)
  t.equal(isSameEngine(engine, { ...engine, text: 2 }), true, 'how words are read does not change the picture')
  t.equal(isSameEngine(undefined, engine), undefined)
  t.equal(isSameEngine(engine, undefined), undefined)
})
