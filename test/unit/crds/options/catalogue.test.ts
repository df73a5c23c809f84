import t from 'tap'
import { CaptureOptions, captureDefaults, withDefaults } from '../../../../crds/src/options/catalogue.ts'
import { CONTENT_TYPES, ImageFormat } from '../../../../crds/src/options/output/image.ts'

type Bound = [name: keyof typeof CaptureOptions.shape, least: number, most: number]
const bounds: Bound[] = [
  ['viewportWidth', 1, 7680],
  ['viewportHeight', 1, 7680],
  ['deviceScaleFactor', 0.1, 5],
  ['imageQuality', 0, 100],
  ['fullPageMaxHeight', 1000, 50000],
  ['delay', 0, 60000],
  ['timeout', 1000, 180000],
]
const takes = (options: object): boolean => CaptureOptions.safeParse(options).success

for (const [name, least, most] of bounds) {
  t.test(`CaptureOptions accepts ${name} from ${least} to ${most} only`, async (t) => {
    const values = [least, most, least - 0.05, most + 0.05, least - 1, most + 1, Number.NaN, String(least), null]
    t.strictSame(
      values.filter((value) => takes({ [name]: value })),
      [least, most],
    )
  })
}

t.test('CaptureOptions accepts only whole numbers of pixels and milliseconds', async (t) => {
  const fractional = bounds.map(([name]) => name).filter((name) => takes({ [name]: 1500.5 % 5 }))
  t.strictSame(fractional, ['deviceScaleFactor'])
})

t.test('CaptureOptions refuses unknown names and unknown values of enumerations', async (t) => {
  const refused = [
    { viewport_width: 100 },
    { width: 100 },
    { format: 'gif' },
    { waitUntil: [] },
    { waitUntil: ['loaded'] },
    { waitUntil: 'load' },
    { click: '' },
  ]
  t.strictSame(refused.filter(takes), [])
})

t.test('CaptureOptions limits the length of texts', async (t) => {
  for (const [name, most] of [
    ['styles', 262144],
    ['scripts', 262144],
    ['waitForSelector', 1024],
    ['click', 1024],
  ] as const) {
    t.ok(takes({ [name]: 'x'.repeat(most) }) && !takes({ [name]: 'x'.repeat(most + 1) }), name)
  }
})

t.test('every description ends with the default', async (t) => {
  const silent = Object.entries(CaptureOptions.shape).filter(([, schema]) => !/Default: .+\.$/.test(schema.unwrap().description ?? ''))
  t.strictSame(
    silent.map(([name]) => name),
    [],
  )
})

t.test('every default is valid and matches the description', async (t) => {
  t.ok(takes(captureDefaults))
  const described = Object.entries(captureDefaults).map(([name, preset]) => {
    const { description = '' } = CaptureOptions.shape[name as keyof typeof CaptureOptions.shape].unwrap()
    return { name, description, end: `Default: ${Array.isArray(preset) ? preset.join(', ') : preset}.` }
  })
  t.strictSame(
    described.filter(({ description, end }) => !description.endsWith(end)),
    [],
  )
})

t.test('withDefaults sets unset options and keeps the others', async (t) => {
  t.match(withDefaults(undefined), captureDefaults)
  t.match(withDefaults({ format: 'webp', delay: 0, fullPage: true }), { ...captureDefaults, format: 'webp', fullPage: true })
  t.notOk('click' in withDefaults({}), 'an option without a default stays absent')
})

t.test('withDefaults treats undefined as unset', async (t) => {
  t.equal(withDefaults({ format: undefined }).format, 'png')
})

t.test('every format has a content type', async (t) => {
  for (const format of ImageFormat.options) t.match(CONTENT_TYPES[format], /^image\//)
})
