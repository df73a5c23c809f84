import t from 'tap'
import { BLACK, type Color, Drawing } from '../../../support/drawing.ts'
import { area, compare, GRAY, GREEN, isAt, page, RED } from './drawn-pages.ts'

// A change counts only where two loads of the page agree.

t.test('two loads that show an 8 and a 0 where a 1 was were a change, because their strokes agree', async (t) => {
  const number = (digits: string, size: number) => new Drawing(400, 260).text(digits, 100, 60, size)
  for (const size of [12, 24, 48, 150]) {
    for (const [one, other] of ['80', '08', '56', '65', '38', '83', '69', '96'].map((pair) => [...pair] as [string, string])) {
      const found = await compare(number('1', size), number(one, size), { again: number(other, size) })
      t.match(found, { changed: false, rule: 'loads', droppedRegions: 1 }, `${one} and ${other} of ${size} pixels`)
    }
    const found = await compare(number('1', size), number('8', size), { again: number('8', size) })
    t.match(found, { changed: true, droppedRegions: 0 }, `control: 8 and 8 of ${size} pixels`)
  }
})

t.test('a moving spot dropped the change around it', async (t) => {
  const spinner = (drawing: Drawing, angle: number) => drawing.ring(160 + 6 * Math.cos(angle), 260 + 6 * Math.sin(angle), 4, 3, BLACK)
  const banner = (color: Color, angle: number) => spinner(page(600, 400, 1).box(100, 220, 300, 80, color), angle)
  const found = await compare(banner(GREEN, 0), banner(RED, 1), { again: banner(RED, 3) })
  t.match(found, { changed: true, droppedRegions: 1 })
  t.match(await compare(banner(GREEN, 0), banner(GREEN, 1), { again: banner(GREEN, 3) }), { changed: false, droppedRegions: 1 }, 'control')
  const price = (digits: string, angle: number) => spinner(page(600, 400, 1).text(digits, 200, 255, 14), angle)
  const beside = await compare(price('19', 0), price('99', 1), { again: price('99', 3) })
  t.match(beside, { changed: true, regionCount: 1, droppedRegions: 1 }, 'a price beside it')
})

/** Random numbers that are the same in each run of the test. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const pick = (next: () => number, from: string): string => from[Math.floor(next() * from.length)]!

/** Pages that draw themselves differently each time. */
const RANDOM_PAGES: Readonly<Record<string, (drawing: Drawing, next: () => number, load: number) => void>> = {
  'a request id': (d, next) => d.text(Array.from({ length: 24 }, () => pick(next, '0123456789ABDE')).join(''), 40, 300, 12),
  'a large counter': (d, next) => d.text(`${Math.floor(next() * 1e6)}`, 40, 280, 60),
  dots: (d, next) => {
    for (let n = 0; n < 60; n++) d.ring(40 + next() * 500, 220 + next() * 200, 2, 3, RED)
  },
  'a chart': (d, next) => {
    for (let n = 0; n < 30; n++) d.box(40 + n * 16, 420 - next() * 180, 10, 180, GREEN)
  },
  cards: (d, next) => {
    const colors: Color[] = [RED, GREEN, GRAY, BLACK, [30, 60, 200], [220, 180, 20]]
    for (let n = 0; n < 6; n++)
      d.box(40 + (n % 3) * 180, 220 + Math.floor(n / 3) * 110, 160, 90, colors.splice(Math.floor(next() * colors.length), 1)[0]!)
  },
  words: (d, next) => {
    for (let line = 0; line < 5; line++)
      d.text(Array.from({ length: 30 }, () => pick(next, 'ABDELNOSTU ')).join(''), 40, 250 + line * 18, 11)
  },
  'a color': (d, next) => d.box(40, 250, 300, 100, [Math.floor(next() * 6) * 50, Math.floor(next() * 255), Math.floor(next() * 255)]),
  'a place': (d, next) => d.box(40 + next() * 400, 220 + next() * 150, 40, 40, RED),
  'an animated ring': (d, next, load) => d.ring(100 + load * 7, 300, 20 + next() * 8, 4, BLACK),
  stripes: (d, _, load) => {
    for (let n = 0; n < 20; n++) d.box(40 + n * 24 + load * 5, 250, 12, 100, GRAY)
  },
}

t.test('pages that draw themselves differently each time were a change', async (t) => {
  for (const [name, draw] of Object.entries(RANDOM_PAGES)) {
    for (let seed = 0; seed < 5; seed++) {
      const next = random(seed * 7_919 + 17)
      const [before, first, second] = [0, 1, 2].map((load) => {
        const drawing = page(600, 450, 1)
        draw(drawing, next, load)
        return drawing
      })
      const { changed, regions } = await compare(before!, first!, { again: second! })
      t.equal(changed, false, `${name}, ${seed}`, { regions })
    }
  }
})

t.test('a changed price on a page with parts that draw themselves differently each time is a change', async (t) => {
  for (const [name, draw] of Object.entries(RANDOM_PAGES)) {
    const next = random(5)
    const [before, first, second] = ['19', '99', '99'].map((digits, load) => {
      const drawing = page(900, 450, 1).text(digits, 760, 100, 14)
      draw(drawing, next, load)
      return drawing
    })
    const found = await compare(before!, first!, { again: second! })
    t.match(found, { changed: true, regionCount: 1 }, name)
    t.ok(
      found.regions?.every((region) => isAt(region, area(755, 95, 40, 24))),
      name,
    )
  }
})

t.test('the minutes of a time of which the loads show other milliseconds were a change', async (t) => {
  const time = (text: string, size: number) => page(600, 450, 1).text(text, 40, 280, size)
  for (const size of [12, 18, 40]) {
    const found = await compare(time('23A31A07A123', size), time('23A35A42A907', size), { again: time('23A35A42A456', size) })
    t.match(found, { changed: false, rule: 'loads' }, `${size} pixels`)
    const [before, ...loads] = ['23A31A57A123', '23A38A57A907', '23A38A57A456'].map((text) => time(text, size))
    for (const textChanged of [true, false]) {
      const same = await compare(before!, loads[0]!, { again: loads[1]!, textChanged })
      t.match(same, { changed: textChanged }, `the same seconds, ${size} pixels, words changed: ${textChanged}`)
    }
    const control = await compare(time('23 AAAAA 123', size), time('45 AAAAA 907', size), { again: time('45 AAAAA 456', size) })
    t.match(control, { changed: true, regionCount: 1 }, `control: another number of the line, ${size} pixels`)
  }
})

t.test('loads of other heights do not agree where only one of them has pixels', async (t) => {
  const tall = (height: number, color: Color) => new Drawing(300, height).box(0, height - 40, 300, 40, color)
  t.match(await compare(tall(500, RED), tall(600, RED), { again: tall(550, RED) }), { changed: false, rule: 'loads' })
  t.match(await compare(tall(500, RED), tall(600, RED), { again: tall(600, RED) }), { changed: true })
  t.match(await compare(tall(500, RED), tall(400, RED), { again: tall(400, RED) }), { changed: true })
  t.match(await compare(tall(500, RED), tall(600, RED), { again: tall(500, RED) }), { changed: false, rule: 'identical' })
})
