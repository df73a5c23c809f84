import t from 'tap'
import { CaptureOptions, captureDefaults, withDefaults } from '../../../../crds/src/options/catalog.ts'
import { deliveryGroup, RECORD_OPTIONS } from '../../../../crds/src/options/output/delivery.ts'
import { CONTENT_TYPES, ImageFormat } from '../../../../crds/src/options/output/formats.ts'
import { toSnakeCase } from '../../../../crds/src/text/words.ts'
import { assertAccepts } from '../../../support/accepts.ts'

const takes = (options: object): boolean => CaptureOptions.safeParse(options).success

type Name = keyof typeof CaptureOptions.shape
const bounds: [title: string, name: Name, accepted: unknown[], refused: unknown[]][] = [
  ['viewport_width is 1-7680 pixels', 'viewportWidth', [1, 7680], [0, 7681, 1.5, Number.NaN, '400', null]],
  ['spec 2.2: viewport_height is a number, bounded', 'viewportHeight', [1, 7680], [0, 7681, 1.5, '300']],
  ['device_scale_factor is 0.1-5', 'deviceScaleFactor', [0.1, 1.5, 5], [0, 0.09, 5.01, '2']],
  ['device is a known name', 'device', ['Pixel 7'], ['Pixel 7000', '', 7]],
  ['spec 2.2: format is jpeg, png or webp', 'format', ['jpeg', 'png', 'webp', 'avif', 'pdf'], ['mov', 'PNG', '', 1]],
  ['spec 2.2: image_quality is 0-100', 'imageQuality', [0, 100], [-1, 101, 0.5, '90']],
  ['spec 2.2: omit_background is a boolean', 'omitBackground', [true, false], ['true', 1]],
  ['spec 2.2: full_page is a boolean', 'fullPage', [true, false], ['true', 1]],
  ['spec 2.2: full_page_max_height is 1000-50000 pixels', 'fullPageMaxHeight', [1000, 50_000], [999, 50_001, 1000.5]],
  ['spec 2.2: full_page_scroll_delay is 0-10000 milliseconds between scrolls', 'fullPageScrollDelay', [0, 10_000], [-1, 10_001, 0.5, '5']],
  ['spec 2.2: delay is 0-60000 milliseconds', 'delay', [0, 60_000], [-1, 60_001, 0.5]],
  ['spec 2.2: timeout is 1000-180000 milliseconds', 'timeout', [1000, 180_000], [999, 180_001, 1000.5]],
  ['wait_for_selector is 1-1024 characters', 'waitForSelector', ['a', 'a'.repeat(1024)], ['', 'a'.repeat(1025), 1]],
  ['wait_until is a list of states', 'waitUntil', [['load', 'domcontentloaded', 'networkidle', 'commit']], [[], ['loaded'], 'load']],
  ['spec 2.2: dark_mode is a boolean', 'darkMode', [true, false], ['true', 1]],
  ['spec 8.7: styles is bounded', 'styles', ['', 'x'.repeat(262_144)], ['x'.repeat(262_145), 1]],
  ['spec 8.7: scripts is bounded', 'scripts', ['', 'x'.repeat(262_144)], ['x'.repeat(262_145), 1]],
  ['spec 2.2: click is a string, bounded', 'click', ['a', 'a'.repeat(1024)], ['', 'a'.repeat(1025), 1]],
]
for (const [title, name, accepted, refused] of bounds)
  t.test(title, async (t) => assertAccepts(t, (value) => takes({ [name]: value }), accepted, refused))

t.test('CaptureOptions refuses names that it does not know', async (t) => {
  t.strictSame([{ viewport_width: 100 }, { width: 100 }].filter(takes), [])
})

t.test('a description has the range after its first clause, and the default at its end', async (t) => {
  const described: [Name, RegExp][] = [
    ['waitForFontsTimeout', /all other waits, 0 to 30000; 0 disables it\. Default: 3000\.$/],
    ['pageZoom', /^Zoom of the browser, 0\.25 to 5: .* magnifies the page\. Default: 1\.$/],
    ['maskSelectors', /content, at most 50\. .* Default: none\.$/],
    ['viewportMobile', /bars\. Default: the device’s, else false\.$/],
  ]
  for (const [name, text] of described) t.match(CaptureOptions.shape[name].unwrap().description, text)
  t.ok(takes(captureDefaults))
})

t.test('withDefaults sets unset options and keeps the others', async (t) => {
  t.match(withDefaults(undefined), captureDefaults)
  t.match(withDefaults({ format: 'webp', delay: 0, fullPage: true }), { ...captureDefaults, format: 'webp', fullPage: true })
  t.notOk('click' in withDefaults({}), 'an option without a default stays absent')
  t.equal(withDefaults({ format: undefined }).format, 'png', 'undefined is unset')
})

t.test('every format has a content type', async (t) => {
  for (const format of ImageFormat.options) t.match(CONTENT_TYPES[format], /^image\//)
})

t.test('RECORD_OPTIONS names every option of the record', async (t) => {
  const { async: _async, responseType: _response, ...ofRecord } = deliveryGroup.options
  t.strictSame(Object.keys(RECORD_OPTIONS).sort(), Object.keys(ofRecord).map(toSnakeCase).sort())
})
