import t from 'tap'
import { screenshots } from '../../../crds/client/kinds.ts'
import { isInvalid } from '../../../crds/client/patch.ts'
import { pathOf } from '../../../crds/client/resource.ts'
import { ScreenshotSpec } from '../../../crds/src/kinds/screenshot.ts'
import { CaptureOptions } from '../../../crds/src/options/catalog.ts'
import { contradictions } from '../../../crds/src/options/contradictions.ts'
import { privateOptionNames } from '../../../crds/src/options/private.ts'
import { CONTRADICTION_CASES } from '../../support/sources/contradiction-cases.ts'
import { samplesOf } from '../../support/sources/option-samples.ts'
import { startPlane } from '../client/plane.ts'

// The gateway validates with zod and TypeScript, the API server with the generated schema and CEL. They must agree. Otherwise the API
// server would reject requests that the gateway accepts, or kubectl users could create objects that the gateway rejects.

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

/** The specs that only one of the two accepts, shortened. */
async function findDisagreements(specs: readonly object[]): Promise<{ spec: string; isStored: boolean }[]> {
  const found: { spec: string; isStored: boolean }[] = []
  for (const spec of specs) {
    const stored = await isStored(spec)
    if (stored !== isLegal(spec)) found.push({ spec: JSON.stringify(spec).slice(0, 200), isStored: stored })
  }
  return found
}

t.test('CEL and TypeScript agree on every contradiction', async (t) => {
  const specs = CONTRADICTION_CASES.map(({ options }) => options)
    .filter((options) => !Object.keys(options).some((name) => privateOptionNames.includes(name)))
    .map((options) => ({ url, options }))
  t.ok(specs.length > 50)
  t.strictSame(await findDisagreements(specs), [])
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
  t.strictSame(await findDisagreements(urls.map((each) => ({ url: each }))), [])
})

t.test('the API server and zod agree on names of accounts and pools', async (t) => {
  const names = ['a', 'acme', 'a-b', '-a', 'a-', 'A', 'a.b', 'a_b', '', 'x'.repeat(63), 'x'.repeat(64)]
  const specs = names.flatMap((name) => [
    { url, accountName: name },
    { url, poolName: name },
  ])
  t.strictSame(await findDisagreements(specs), [])
})

// A linear congruential generator gives the same options in every run.
let seed = 20261121
const chance = (): number => {
  seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32
  return seed / 2 ** 32
}
const pick = <T>(values: readonly T[]): T => values[Math.floor(chance() * values.length)]!

/**
 * Values of each option on both sides of its limits, derived from its schema, and values that no schema expresses. The second one is valid.
 */
const VALUES: Record<string, readonly unknown[]> = {
  ...Object.fromEntries(Object.entries(CaptureOptions.shape).map(([name, schema]) => [name, samplesOf(name, schema)])),
  deviceScaleFactor: [0.09, 0.1, 1, 2.5, 5, 5.01],
  device: ['iPhone 15 Pro', 'iphone_15_pro', 'Nokia 3310', ''],
  waitUntil: [[], ['load'], ['load', 'networkidle'], ['loaded'], ['load', 'load', 'load', 'load', 'load']],
  styles: ['', 'a{}', 'ü'.repeat(262_144), 'x'.repeat(262_145)],
  unknownOption: [1],
}

t.test('the API server and zod agree on each value of each option', async (t) => {
  // The API server drops null from optional fields. JSON from the gateway never contains null.
  const specs = Object.entries(VALUES).flatMap(([name, values]) =>
    values.filter((value) => value !== null).map((value) => ({ url, options: { [name]: value } })),
  )
  t.ok(specs.length > 500)
  t.strictSame(await findDisagreements(specs), [])
})

/** Average number of options in a combination. */
const CHOSEN = 7

t.test('the API server and zod agree on 200 combinations of options', async (t) => {
  const specs = Array.from({ length: 200 }, () => {
    const names = Object.keys(VALUES).filter((name) => name !== 'unknownOption' && chance() < CHOSEN / Object.keys(VALUES).length)
    // Half of the combinations should be valid.
    const options = Object.fromEntries(names.map((name) => [name, chance() < 0.08 ? pick(VALUES[name]!) : VALUES[name]![1]]))
    return { url, options }
  }).filter(({ options }) => !Object.values(options).includes(null))
  t.strictSame(await findDisagreements(specs), [])
  const accepted = specs.filter(isLegal).length
  t.ok(accepted > 40 && accepted < 180, `${accepted} of 200 are legal`)
})
