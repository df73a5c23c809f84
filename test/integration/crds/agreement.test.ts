import t from 'tap'
import { createKeyBody } from '../../../api-gateway/src/resources/keys/fields.ts'
import { createScheduleBody } from '../../../api-gateway/src/resources/schedules/bodies.ts'
import { createScreenshotBody } from '../../../api-gateway/src/resources/screenshots/create-body.ts'
import { evaluateTarget } from '../../../api-gateway/src/resources/screenshots/options/target-url.ts'
import { findWebhookUrlProblems } from '../../../api-gateway/src/resources/shared/webhook-url.ts'
import { createWebhookBody } from '../../../api-gateway/src/resources/webhooks/fields.ts'
import { apiKeys, screenshotSchedules, screenshots, webhooks } from '../../../crds/client/kinds.ts'
import { isInvalid } from '../../../crds/client/kube-error.ts'
import { pathOf } from '../../../crds/client/resource.ts'
import { DEFAULT_EGRESS_RULES } from '../../../crds/src/addresses/address-rules.ts'
import { ScreenshotSpec } from '../../../crds/src/kinds/screenshot.ts'
import { CaptureOptions } from '../../../crds/src/options/catalog.ts'
import { contradictions } from '../../../crds/src/options/contradictions.ts'
import { privateOptionNames } from '../../../crds/src/options/private.ts'
import { mapConcurrently } from '../../../crds/src/runtime/lists.ts'
import { CONTRADICTION_CASES } from '../../support/sources/contradiction-cases.ts'
import { samplesOf } from '../../support/sources/option-samples.ts'
import { startPlane } from '../client/plane.ts'

// The gateway validates with zod and TypeScript, the API server with the generated schema and CEL. They must agree. Otherwise the API
// server would reject requests that the gateway accepts, or kubectl users could create objects that the gateway rejects.

const plane = await startPlane(t)
const http = plane.connect(t)
const url = 'https://example.com/'
let names = 0
/** Concurrent calls of the API server. */
const CALLS = 8

/** Whether the API server accepts a Screenshot, or an object of another kind, by a dry run. */
async function isStored(spec: object, resource: Pick<typeof screenshots, 'kind' | 'plural'> = screenshots): Promise<boolean> {
  const body = { apiVersion: 'tintype.dev/v1alpha1', kind: resource.kind, metadata: { name: `n${++names}` }, spec }
  const query = { dryRun: 'All', fieldValidation: 'Strict' }
  try {
    await http.request({ method: 'POST', path: pathOf(resource as typeof screenshots, plane.namespace), body, query })
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
  const found = await mapConcurrently(specs, CALLS, async (spec) => ({ spec, isStored: await isStored(spec) }))
  const differing = found.filter(({ spec, isStored }) => isStored !== isLegal(spec))
  return differing.map(({ spec, isStored }) => ({ spec: JSON.stringify(spec).slice(0, 200), isStored }))
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
    ...[url, 'http://example.com', 'https://example.com?q', 'https://example.com/@me', 'https://example.com/a\nb'],
    ...['http://[2001:db8::1]:8080/', 'https://例え.jp/ü'],
    ...['', 'example.com', 'ftp://example.com/', 'HTTPS://example.com/', 'https://', 'https:///x'],
    ...['https://a:b@example.com/', 'https://a@example.com/', 'http://a b.com/', ' https://example.com/'],
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

/** Names for people, with text that shows nothing. */
const DISPLAY_NAMES = [
  ...['a', ' a ', 'x'.repeat(100), '📷'.repeat(100), '。', '👩‍👧', '\u200bא', 'a\nb', '\ue000', '\ud7ff'],
  ...['', ' ', '\t\r\n', '\u0000\u001f\u007f', '\u0085\u00a0', '\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000'],
  ...['\u200b\u200d\u2060', '\ufeff', '\u00ad', '\u2800', '\u3164\u115f\u1160\uffa0', '\ufe0f', '\u{e0020}', '\u061c\u202e'],
  ...['x'.repeat(101), '📷'.repeat(101), ' '.repeat(101)],
]
const now = () => new Date()
const webhookRules = DEFAULT_EGRESS_RULES
const deps = { now, webhookRules, egress: webhookRules }

/** Whether REST accepts a body. */
function isTaken(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}

t.test('REST and the API server agree on names for people', async (t) => {
  const events = ['screenshot.completed']
  const kinds = [
    { resource: apiKeys, spec: {}, body: {}, schema: createKeyBody },
    { resource: webhooks, spec: { url, events }, body: { url, events }, schema: createWebhookBody },
    {
      resource: screenshotSchedules,
      ...{ spec: { schedule: '@hourly', template: { url } }, body: { schedule: '@hourly', url }, schema: createScheduleBody },
    },
  ]
  for (const { resource, spec, body, schema } of kinds) {
    const taken = DISPLAY_NAMES.filter((name) => isTaken(() => schema.read({ ...body, name }, { isLenient: false, deps })))
    const areStored = await mapConcurrently(DISPLAY_NAMES, CALLS, (name) => isStored({ ...spec, name }, resource))
    const stored = DISPLAY_NAMES.filter((_, n) => areStored[n])
    t.strictSame(stored, taken, resource.kind)
    t.equal(taken.length, 10, resource.kind)
  }
})

t.test('REST and the API server agree on file names, and refuse those that hide or reorder characters', async (t) => {
  const flag = '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}'
  const scripts = ['shot.png', 'Größe 1.png', 'שלום.pdf', 'می\u200cخواهم', '10\u200cها', 'a\u3000b', 'x'.repeat(128)]
  const taken = [...scripts, '👩\u200d🚀.png', '1\ufe0f\u20e3', flag]
  const refused = [
    ...['bill\u202egnp.exe', '\u2066a', 'a\u200e', 'a\u061cb', 'a\u200bb', 'a\u200db', 'a\u2028b', 'a\ufeff', 'a\u0085b', 'a/b'],
    ...[' ', '.', '..', '. .', '\u3000', '.\u2800'],
    ...['a\u{e0001}b', 'a\u{e0041}', '🏴\u{e0067}', 'a\ufe0f.png', '\u3164.png', 'a\uffa0', '😀\ufe00\ufe01\ufe02', 'a\ufff0'],
  ]
  for (const name of [...taken, ...refused]) {
    const isTakenByRest = isTaken(() => createScreenshotBody.read({ url, attachment_name: name }, { isLenient: false, deps }))
    t.equal(isTakenByRest, taken.includes(name), `REST: ${escape(name)}`)
    t.equal(await isStored({ url, attachmentName: name }), taken.includes(name), `API server: ${escape(name)}`)
  }
})

t.test('REST and the API server agree on URLs without a host, or with white space in it', async (t) => {
  const hosts = [
    ...['example.com', 'example.com:8080', '[2606:4700::1111]', 'a\u200bb.example', '\u00adexample.com', 'xn--r8jz45g.jp'],
    ...['', ' ', ':80', '\u00a0', '\u3000', 'a\u00a0b', 'a\u2003', '\u1680', '\u2028', '\u202f', '\u205f', '\u0085'],
    ...['\ufeff', '\u00ad', '\u200b', '\u2060\u00ad', '\ufe0f'],
  ]
  const addresses = hosts.flatMap((host) => ['', '/', '/a', '?q'].map((rest) => `https://${host}${rest}`))
  const targets = addresses.filter((address) => 'url' in evaluateTarget(address, DEFAULT_EGRESS_RULES))
  const endpoints = addresses.filter((address) => findWebhookUrlProblems(address, DEFAULT_EGRESS_RULES).length === 0)
  const areTargets = await mapConcurrently(addresses, CALLS, (url) => isStored({ url }))
  const areEndpoints = await mapConcurrently(addresses, CALLS, (url) => isStored({ url, events: ['screenshot.completed'] }, webhooks))
  t.strictSame(
    addresses.filter((_, n) => areTargets[n]),
    targets,
  )
  t.strictSame(
    addresses.filter((_, n) => areEndpoints[n]),
    endpoints,
  )
  t.equal(targets.length, 24)
  for (const blank of ['', ' ', '\t', '\u00a0', '\u200b']) {
    t.match(evaluateTarget(blank, DEFAULT_EGRESS_RULES), { problem: { message: 'the url must start with http:// or https://' } })
    t.match(findWebhookUrlProblems(blank, DEFAULT_EGRESS_RULES), [{ message: 'url must start with https://' }])
    t.notOk(await isStored({ url: blank }))
    t.notOk(await isStored({ url: blank, events: ['screenshot.completed'] }, webhooks))
  }
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
