import t from 'tap'
import { isMisleading, misleadingRules, replaceMisleading, toMisleadingMessage } from '../../../../crds/src/text/misleading-name.ts'

const tags = (text: string): string => String.fromCodePoint(...[...text].map((letter) => 0xe0000 + letter.charCodeAt(0)))

t.test('a name whose characters hide or reorder others is misleading, and is not after the replacement', async (t) => {
  const points = [0x80, 0x9f, 0xad, 0x61c, 0x180e, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2060, 0x2064, 0x2066, 0x2069]
  const more = [
    0x115f, 0x1160, 0x17b4, 0x206f, 0x3164, 0xfeff, 0xffa0, 0xfff0, 0xfff9, 0x1bca0, 0x1d173, 0xe0001, 0xe0041, 0xe007f, 0xe0fff,
  ]
  const shaping = [0x34f, 0x180b, 0x180f, 0x200c, 0x200d, 0xfe00, 0xfe0f, 0xe0100, 0xe01ef]
  for (const point of [...points, ...more, ...shaping]) {
    for (const name of [`a${String.fromCodePoint(point)}gnp.exe`, `${String.fromCodePoint(point)}a`, `a${String.fromCodePoint(point)}`]) {
      t.ok(isMisleading(name), `U+${point.toString(16)} in ${escape(name)}`)
      t.notOk(isMisleading(replaceMisleading(name)))
    }
  }
  t.equal(replaceMisleading('invoice\u202egnp.exe'), 'invoice_gnp.exe')
  t.equal(replaceMisleading('a\u200db\u200d\u200dc'), 'a_b_c')
})

t.test('the message about a misleading name named U+202E, whatever it had', async (t) => {
  const hides = 'must not contain characters that hide or reorder text: leave out'
  t.equal(toMisleadingMessage('a\u200bb'), `${hides} U+200B at position 2`)
  t.equal(toMisleadingMessage('😀é\u{e0001}.png'), `${hides} U+E0001 at position 3`)
  t.equal(toMisleadingMessage('👩\u{200d}🚀 a\u{200d}b'), `${hides} U+200D at position 6`)
  t.equal(toMisleadingMessage('\ufe0f1'), `${hides} U+FE0F at position 1`)
})

t.test('a name of dots or blanks was taken', async (t) => {
  for (const name of [' ', '   ', '.', '..', '...', '. .', '\u00a0', '\u3000.', '\u2800', '.\u200b', '\u3164']) {
    t.ok(isMisleading(name), escape(name))
    t.equal(toMisleadingMessage(name), 'must have a visible character besides dots')
    t.notOk(isMisleading(replaceMisleading(name)), escape(replaceMisleading(name)))
  }
  for (const name of ['.a', 'a.', ' a', '-', '_', '.htaccess', '…', '。']) t.notOk(isMisleading(name), name)
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
  const selected = ['中\u{e0100}.png', '©\u{fe0f}', 'ᠠ\u{180b}', '👁\u{fe0f}\u{200d}🗨\u{fe0f}', `🏴${tags('gbsct')}\u{e007f}.png`]
  for (const name of [...names, ...joined, ...selected]) {
    t.notOk(isMisleading(name), name)
    t.equal(replaceMisleading(name), name)
  }
})

t.test('text that is hidden in the tags of a flag, or in selectors behind an emoji, is misleading', async (t) => {
  const flags = [`🏴${tags('gbeng')}.png`, `🏴${tags('all of a text')}\u{e007f}`, `🏁${tags('gbeng')}\u{e007f}`]
  for (const name of [...flags, '😀\u{fe00}\u{fe01}\u{fe02}']) t.ok(isMisleading(name), escape(name))
})

t.test('the patterns for CEL find what the pattern for JavaScript finds, and nothing is left after a replacement', async (t) => {
  const [named, hiding] = misleadingRules('name').map(
    ({ rule }) => new RegExp(/r'(.*)'/.exec(rule)?.[1]?.replaceAll('\\x{', '\\u{') ?? '', 'u'),
  )
  const parts = ['a', 'é', '.', '\u{202e}', '\u{200d}', '\u{fe0f}', '🏴', tags('g'), '\u{e007f}', '\u{e0001}', '\u{3164}']
  for (let n = 0; n < parts.length ** 4; n++) {
    const name = [0, 1, 2, 3].map((place) => parts[Math.floor(n / parts.length ** place) % parts.length]).join('')
    if ((!named?.test(name) || hiding?.test(name)) !== isMisleading(name) || isMisleading(replaceMisleading(name))) t.fail(escape(name))
  }
})
