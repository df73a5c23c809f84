import t from 'tap'
import { screenshots } from '../../../crds/client/kinds.ts'
import { isInvalid } from '../../../crds/client/patch.ts'
import { pathOf } from '../../../crds/client/resource.ts'
import { ScreenshotSpec } from '../../../crds/src/kinds/screenshot.ts'
import { CaptureOptions } from '../../../crds/src/options/catalogue.ts'
import { contradictions } from '../../../crds/src/options/contradictions.ts'
import { privateOptionNames } from '../../../crds/src/options/private.ts'
import { CONTRADICTION_CASES } from '../../support/sources/contradiction-cases.ts'
import { samplesOf } from '../../support/sources/option-samples.ts'
import { startPlane } from '../client/plane.ts'

// The gateway validates with zod and TypeScript, the API server with the generated schema and CEL. They must agree. Otherwise a request that
// the gateway accepts would fail when it is stored, or kubectl users could create objects that the gateway refuses.

const plane = await startPlane(t)
await plane.applyKinds()
const http = plane.connect(t)
const url = 'https://example.com/'
let names = 0

/** Whether the API server accepts a Screenshot, by a dry run. */
async function isStored(spec: object): Promise<boolean> {
  const body = { apiVersion: 'tintype.dev/v1alpha1', kind: 'Screenshot', metadata: { name: `n${++names}` }, spec }
  const query = { dryRun: 'All', fieldValidation: 'Strict' }
  try {
    await http.request({ method: 'POST', path: pathOf(screenshots, 'default'), body, query })
    return true
  } catch (error) {
    if (isInvalid(error) || (error as { status?: number }).status === 400) return false
    throw error
  }
}

/** Contradictions that have a CEL rule. */
const seen = contradictions.filter(({ rule }) => rule !== undefined)

/** Whether zod and the contradictions accept a Screenshot. */
function isLegal(spec: object): boolean {
  const { success, data } = ScreenshotSpec.safeParse(spec)
  return success && !seen.some((contradiction) => contradiction.holds(data.options ?? {}))
}

t.test('CEL and TypeScript agree on every contradiction', async (t) => {
  for (const { options } of CONTRADICTION_CASES) {
    if (Object.keys(options).some((name) => privateOptionNames.includes(name))) continue
    t.equal(await isStored({ url, options }), isLegal({ url, options }), JSON.stringify(options))
  }
})

t.test('the API server and zod agree on URLs', async (t) => {
  const urls = [
    ...[
      url,
      'http://example.com',
      'https://example.com?q',
      'https://example.com/@me',
      'http://[2001:db8::1]:8080/',
      'https://例え.jp/ü',
      'https://example.com/a\nb',
    ],
    ...[
      '',
      'example.com',
      'ftp://example.com/',
      'https://',
      'https:///x',
      'https://a:b@example.com/',
      'https://a@example.com/',
      'http://a b.com/',
      ' https://example.com/',
      'HTTPS://example.com/',
      'https://\u00a0/',
      'https://a\u2028b/',
    ],
    `https://example.com/${'x'.repeat(8172)}`,
    `https://example.com/${'x'.repeat(8173)}`,
    `https://example.com/${'ü'.repeat(8172)}`,
  ]
  for (const address of urls) t.equal(await isStored({ url: address }), isLegal({ url: address }), encodeURI(address).slice(0, 60))
})

t.test('the API server and zod agree on names of accounts and pools', async (t) => {
  for (const accountName of ['a', 'acme', 'a-b', '-a', 'a-', 'A', 'a.b', 'a_b', '', 'x'.repeat(63), 'x'.repeat(64)]) {
    t.equal(await isStored({ url, accountName }), isLegal({ url, accountName }), accountName)
    t.equal(await isStored({ url, poolName: accountName }), isLegal({ url, poolName: accountName }), accountName)
  }
})

// A linear congruential generator gives the same options in every run.
let seed = 20261121
const chance = (): number => {
  seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32
  return seed / 2 ** 32
}
const pick = <T>(values: readonly T[]): T => values[Math.floor(chance() * values.length)]!

/** Values of each option, of which the second is valid. Values of other options are derived from the schema. */
const VALUES: Record<string, readonly unknown[]> = {
  ...Object.fromEntries(Object.entries(CaptureOptions.shape).map(([name, schema]) => [name, samplesOf(name, schema)])),
  viewportWidth: [0, 1, 1920, 7680, 7681, 1.5, '1'],
  viewportHeight: [0, 1, 1080, 7680, 7681, null],
  deviceScaleFactor: [0.09, 0.1, 1, 2.5, 5, 5.01],
  device: ['iPhone 15 Pro', 'iphone_15_pro', 'Nokia 3310', ''],
  darkMode: [true, false, 'yes'],
  format: ['png', 'jpeg', 'webp', 'gif', 'PNG'],
  imageQuality: [-1, 0, 90, 100, 101],
  omitBackground: [true, false],
  fullPage: [true, false, 1],
  fullPageMaxHeight: [999, 1000, 50000, 50001],
  delay: [-1, 0, 60000, 60001],
  timeout: [999, 1000, 180000, 180001],
  waitForSelector: ['', '#a', 'x'.repeat(1024), 'x'.repeat(1025)],
  waitUntil: [[], ['load'], ['load', 'networkidle'], ['loaded'], ['load', 'load', 'load', 'load', 'load']],
  styles: ['', 'a{}', 'ü'.repeat(262_144), 'x'.repeat(262_145)],
  scripts: ['', '1', 'x'.repeat(262_145)],
  click: ['', '.b'],
  unknownOption: [1],
}

t.test('the API server and zod agree on each value of each option', async (t) => {
  for (const [name, values] of Object.entries(VALUES)) {
    for (const value of values) {
      const spec = { url, options: { [name]: value } }
      // The API server drops null from optional fields. JSON from the gateway never contains null.
      if (value !== null) t.equal(await isStored(spec), isLegal(spec), `${name}: ${JSON.stringify(value).slice(0, 40)}`)
    }
  }
})

/** Average number of options in a combination. */
const CHOSEN = 7

t.test('the API server and zod agree on 200 combinations of options', async (t) => {
  let accepted = 0
  for (let n = 0; n < 200; n++) {
    const names = Object.keys(VALUES).filter((name) => name !== 'unknownOption' && chance() < CHOSEN / Object.keys(VALUES).length)
    // Half of the combinations should be valid.
    const options = Object.fromEntries(names.map((name) => [name, chance() < 0.08 ? pick(VALUES[name]!) : VALUES[name]![1]]))
    if (Object.values(options).includes(null)) continue
    const isFine = isLegal({ url, options })
    accepted += isFine ? 1 : 0
    const stored = await isStored({ url, options })
    if (stored !== isFine) t.equal(stored, isFine, JSON.stringify(options).slice(0, 200))
  }
  t.ok(accepted > 40 && accepted < 180, `${accepted} of 200 are legal`)
})
