import t from 'tap'
import { toSentence } from '../../../api-gateway/console/src/form/fields.ts'
import { formatShare, frameOf, placeIn, toPictureUrl, toSafeLink } from '../../../api-gateway/console/src/format/pictures.ts'
import {
  formatAge,
  formatBytes,
  formatInstant,
  formatMilliseconds,
  formatNumber,
  fromLocalInput,
  showHidden,
  toLocalInput,
  toStepTitle,
  toVisible,
  toWaterfall,
} from '../../../api-gateway/console/src/format/text.ts'
import { parseLocation } from '../../../api-gateway/console/src/routing/location.ts'

t.test('numbers are short and have a unit', async (t) => {
  t.strictSame([0, 1_023, 1_536, 5_242_880, 3e12].map(formatBytes), ['0 bytes', '1023 bytes', '1.5 KiB', '5.0 MiB', '2794 GiB'])
  t.strictSame([0, 80.4, 1_250, 12_500, 75_000].map(formatMilliseconds), ['0 ms', '80 ms', '1.25 s', '12.5 s', '1 min 15 s'])
  t.strictSame([59_980, 119_700].map(formatMilliseconds), ['1 min 0 s', '2 min 0 s'], 'there is no 60th second')
  t.equal(formatNumber(12_345), '12,345')
  const now = new Date('2026-11-21T10:00:00Z')
  t.strictSame(
    ['2026-11-21T10:00:00Z', '2026-11-21T09:55:00Z', '2026-11-21T07:00:00Z', '2026-11-19T10:00:00Z'].map((instant) =>
      formatAge(instant, now),
    ),
    ['now', '5 minutes ago', '3 hours ago', '2 days ago'],
  )
  t.equal(
    formatAge('2026-11-27T09:00:00+01:00', new Date('2026-11-25T20:00:00+01:00')),
    'in 37 hours',
    'a time on Friday is not tomorrow on Wednesday',
  )
})

t.test('messages begin with a capital letter, and names stay as they are', async (t) => {
  t.equal(toSentence('the API key is not valid.'), 'The API key is not valid.')
  t.equal(toSentence('a screenshot has no event video.completed: leave it out'), 'A screenshot has no event video.completed: leave it out')
  for (const text of [
    'retries must be at most 5',
    'full_page has no effect',
    'url and html exclude each other',
    'https://x/ failed',
    '',
    'é',
  ])
    t.equal(toSentence(text), text)
})

t.test('local times go to the API and back, and times are shown with their zone', async (t) => {
  const instant = fromLocalInput('2026-11-21T10:05')
  t.equal(toLocalInput(instant), '2026-11-21T10:05')
  t.strictSame([fromLocalInput(''), toLocalInput(null), toLocalInput('x')], ['', '', ''])
  t.match(toLocalInput('2026-11-21'), /^2026-11-2\dT\d\d:\d\d$/)
  t.match(formatInstant(instant), /2026.*(UTC|GMT|[A-Z]{3,4})/)
  t.match(
    formatInstant(fromLocalInput('2026-11-21T00:05')),
    /^Nov 21, 2026, 00:05:00 [A-Z]/,
    'hours are 0 to 23, as in the times of schedules',
  )
})

t.test('links of the gateway are loaded from the origin of the console, those of the store from the store', async (t) => {
  const file = 'files/users/acme/scr_x.png?expires=1&signature=a.b'
  t.equal(toPictureUrl(`https://shots.example.com/${file}`), file)
  t.equal(toPictureUrl(`https://shots.example.com/prefix/${file}`), file)
  t.equal(toPictureUrl(`/${file}`), file)
  const stored = 'https://s3.example.com/tintype/users/acme/scr_x.png?X-Amz-Signature=1'
  t.equal(toPictureUrl(stored), stored)
  for (const link of [null, 'javascript:alert(1)', 'data:text/html,x', 'https://']) t.equal(toPictureUrl(link), undefined, String(link))
})

t.test('only http and https URLs become links', async (t) => {
  t.equal(toSafeLink('https://example.com'), 'https://example.com/')
  for (const text of [
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'JAVASCRIPT:alert(1)',
    'data:text/html,x',
    'tintype:markup',
    '',
    null,
    undefined,
  ])
    t.equal(toSafeLink(text), undefined, String(text))
})

t.test('steps follow each other in the waterfall', async (t) => {
  t.strictSame(toWaterfall({ navigate: 300, hide: 0, screenshot: 100 }), {
    bars: [
      { name: 'navigate', start: 0, length: 300 },
      { name: 'screenshot', start: 300, length: 100 },
    ],
    total: 400,
  })
  t.equal(toStepTitle('full_page_height'), 'full page height')
})

t.test('pictures of different sizes lie above each other in one frame', async (t) => {
  const frame = frameOf([
    { width: 400, height: 200 },
    { width: 300, height: 500 },
  ])
  t.strictSame(frame, { width: 400, height: 500 })
  t.strictSame(frameOf([]), { width: 1, height: 1 }, 'the files have expired')
  t.strictSame(placeIn(frame, { x: 100, y: 250, width: 300, height: 50 }), { left: '25%', top: '50%', width: '75%', height: '10%' })
  t.strictSame([0, 0.000123, 0.0124, 0.5, 1].map(formatShare), ['0 %', '0.012 %', '1.2 %', '50.0 %', '100.0 %'])
})

t.test('the fragment names the page, its parts and a query', async (t) => {
  t.strictSame(parseLocation('#/screenshots/scr_x?from=a%20b').parts, ['screenshots', 'scr_x'])
  t.equal(parseLocation('#/screenshots?status=failed').query.get('status'), 'failed')
  t.strictSame(parseLocation('').parts, [])
  t.strictSame(parseLocation('#/%zz').parts, ['%zz'])
})

t.test('toVisible escapes hidden characters, and keeps line breaks and tabs', async (t) => {
  t.equal(toVisible('a\u{202e}b\u{200b}\u{9b}\u{1b}[2J'), String.raw`a\u202eb\u200b\u009b\u001b[2J`)
  t.equal(toVisible('{\r\n\t"naïve": 中\n}'), '{\r\n\t"naïve": 中\n}')
})

t.test('every text and every attribute that people see shows hidden characters, and values of fields do not', async (t) => {
  const show = (node: { type: unknown; props: unknown }): unknown => {
    showHidden(node)
    return node.props
  }
  const attributes = { alt: '\u{202e}', title: 'a\u{202e}', 'aria-label': '\u{202e}', src: 'https://a.example/\u{202e}', value: '\u{202e}' }
  const shown = { alt: String.raw`\u202e`, title: String.raw`a\u202e`, 'aria-label': String.raw`\u202e` }
  t.strictSame(show({ type: 'img', props: { ...attributes } }), { ...attributes, ...shown })
  t.strictSame(show({ type: () => null, props: { ...attributes } }), attributes, 'a component gets the value')
  t.equal(show({ type: null, props: 'a\u{202e}' }), String.raw`a\u202e`)
  t.equal(show({ type: null, props: 7 }), 7)
})
