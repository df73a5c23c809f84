import t from 'tap'
import { isMisleading, replaceMisleading } from '../../../../crds/src/text/misleading-name.ts'

t.test('a name whose characters hide or reorder others is misleading, and is not after the replacement', async (t) => {
  const points = [0x80, 0x9f, 0xad, 0x61c, 0x180e, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2060, 0x2064, 0x2066, 0x2069]
  for (const point of [...points, 0x200c, 0x200d, 0xfeff, 0xfff9]) {
    for (const name of [`a${String.fromCodePoint(point)}gnp.exe`, `${String.fromCodePoint(point)}a`, `a${String.fromCodePoint(point)}`]) {
      t.ok(isMisleading(name), `U+${point.toString(16)} in ${escape(name)}`)
      t.notOk(isMisleading(replaceMisleading(name)))
    }
  }
  t.equal(replaceMisleading('invoice\u202egnp.exe'), 'invoice_gnp.exe')
  t.equal(replaceMisleading('a\u200db\u200d\u200dc'), 'a_b_c')
})

t.test('names in all scripts, with emoji and spaces, are not misleading', async (t) => {
  const names = [
    'shot.png',
    'Größe 1.png',
    '中文.png',
    'שלום.pdf',
    'مرحبا 12.png',
    'a\u{a0}b\u{3000}c.png',
    '😀👍🏽.png',
    '1\u{fe0f}\u{20e3}.png',
  ]
  const joined = ['👩\u{200d}🚀.png', '❤\u{fe0f}\u{200d}🔥', 'می\u{200c}خواهم.png', 'क्\u{200d}ष', '10\u{200c}ها']
  for (const name of [...names, ...joined]) {
    t.notOk(isMisleading(name), name)
    t.equal(replaceMisleading(name), name)
  }
})
