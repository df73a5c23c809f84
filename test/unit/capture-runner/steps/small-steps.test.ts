import t from 'tap'
import { placesOf, sweepOffsets } from '../../../../capture-runner/src/steps/full-page/scroll.ts'
import { decode } from '../../../../capture-runner/src/steps/injection/load-files.ts'
import { hidingRules, toAbsolute } from '../../../../capture-runner/src/steps/injection/styles.ts'
import { checkAddress } from '../../../../capture-runner/src/steps/navigation/check-content.ts'
import { pressKey } from '../../../../capture-runner/src/steps/preparing/click.ts'
import type { Work } from '../../../../capture-runner/src/steps/step.ts'
import { isMoving, namesOf, STILL } from '../../../../capture-runner/src/steps/waiting/motion.ts'

t.test('toAbsolute resolves URLs in a sheet against the sheet’s URL', async (t) => {
  const base = 'https://cdn.example/css/a.css'
  for (const [sheet, absolute] of [
    ['url(x.png)', 'url(https://cdn.example/css/x.png)'],
    ["url( '../x.png' )", "url('https://cdn.example/x.png')"],
    ['url("//b.example/x")', 'url("https://b.example/x")'],
    ['url(data:image/png;base64,AA)', 'url(data:image/png;base64,AA)'],
    ['url(#mark)', 'url(#mark)'],
  ] as const) {
    t.equal(toAbsolute(sheet, base), absolute)
  }
})

t.test('hidingRules creates a rule for each selector', async (t) => {
  t.equal(hidingRules(['#a', '.b, .c']), '#a { display: none !important }\n.b, .c { display: none !important }')
})

t.test('checkAddress distinguishes a change of site from any redirect', async (t) => {
  const check = (refused: 'cross_site' | 'always', shown: string) => () => checkAddress('https://example.com/a', refused, shown)
  t.doesNotThrow(check('always', 'https://example.com/a#part'))
  t.throws(check('always', 'https://example.com/b'), { code: 'CONTENT_RULE' })
  t.doesNotThrow(check('cross_site', 'https://www.example.com/b'))
  t.throws(check('cross_site', 'https://login.example.org/'), { code: 'CONTENT_RULE' })
})

t.test('a byte order mark of a file that is added to the page is no part of its text', async (t) => {
  const text = 'body { color: red }'
  const bytesOf = (mark: number[], encoding: 'utf8' | 'utf16le', swapped = false) => {
    const bytes = Buffer.from(text, encoding)
    return Buffer.concat([Buffer.from(mark), swapped ? bytes.swap16() : bytes])
  }
  t.equal(decode(bytesOf([], 'utf8')), text)
  t.equal(decode(bytesOf([0xef, 0xbb, 0xbf], 'utf8')), text)
  t.equal(decode(bytesOf([0xff, 0xfe], 'utf16le')), text)
  t.equal(decode(bytesOf([0xfe, 0xff], 'utf16le', true)), text)
  t.equal(decode(Buffer.from('é ’ 😀')), 'é ’ 😀')
  t.equal(decode(Buffer.alloc(0)), '')
})

t.test('placesOf moves monotonically from one position to the next', async (t) => {
  const places = placesOf(1_000, 2_080)
  t.equal(places.at(-1), 2_080)
  t.ok(places.length > 2)
  for (const [index, place] of places.entries()) t.ok(place > (places[index - 1] ?? 1_000))
})

t.test('sweepOffsets moves down in steps slightly shorter than the window, to the end of the page or the maximum height', async (t) => {
  t.strictSame(sweepOffsets(3_000, 1_000, 25_000), [950, 1_900, 2_000])
  t.strictSame(sweepOffsets(1_950, 1_000, 25_000), [950])
  t.strictSame(sweepOffsets(100_000, 1_000, 2_000), [950, 1_000])
  for (const height of [0, 1_000]) t.strictSame(sweepOffsets(height, 1_000, 25_000), [], 'a page that fits into the window')
})

t.test(
  'on a busy machine, the key was pressed before the browser had focused an element with autofocus, which needs a frame',
  async (t) => {
    const calls: string[] = []
    const work = {
      plan: { options: { pressKey: 'a' } },
      signal: new AbortController().signal,
      tab: {
        session: { send: async (_: string, { type, key }: { type: string; key: string }) => void calls.push(`${type} ${key}`) },
        evaluate: async () => void calls.push('frame'),
      },
      newTabs: { during: (_action: string, act: () => Promise<void>) => act() },
    } as unknown as Work
    await pressKey.run(work)
    t.strictSame(calls, ['frame', 'keyDown a', 'keyUp a'])
  },
)

t.test('the warning about a page that still moves named nothing if its scripts had changed elements before', async (t) => {
  t.strictSame(namesOf({ ...STILL, hasChanges: true }), ['scripts'])
  for (const bits of Array.from({ length: 16 }, (_, index) => [1, 2, 4, 8].map((bit) => (index & bit) > 0))) {
    const [hasScript = false, hasChanges = false, isAnimated, hasCanvas] = bits
    const motion = { ...STILL, hasScript, hasChanges, animations: Number(isAnimated), canvases: Number(hasCanvas) }
    t.ok(!isMoving(motion) || namesOf(motion).length > 0, `${bits}`)
  }
})
