import t from 'tap'
import type { Secret } from '../../../../../crds/client/kinds.ts'
import { newOpeningKey, type SealedFor, seal, toSealingKey } from '../../../../../crds/src/crypto/sealed.ts'
import type { ScreenshotSpec } from '../../../../../crds/src/kinds/screenshot.ts'
import { DEFAULT_OPTION_POLICY } from '../../../../../crds/src/options/policy.ts'
import {
  MAX_INLINE_BYTES,
  MAX_OPTIONS_BYTES,
  MAX_SEALED_BYTES,
  PrivateOptions,
  type SealedOptions,
} from '../../../../../crds/src/options/private.ts'
import { optionsKey } from '../../../../../crds/src/records/storage-keys.ts'
import { OptionsError } from '../../../../../operator/src/controllers/screenshot/decide.ts'
import {
  type OptionsSources,
  openOptions,
  PRIVATE_OPTIONS_TYPE,
  readPrivateSecret,
} from '../../../../../operator/src/controllers/screenshot/open-options.ts'
import { aScreenshot } from '../../../../support/fakes/builders.ts'

const report = () => {}
const key = newOpeningKey('k1')
const url = 'https://example.com/'
const name = 'scr-1'
const secret = { privateOptions: { authorization: 'Bearer s3cret' } }

const sealFor = (sealedFor: Partial<SealedFor>, content: object = secret, to = key) =>
  seal(
    JSON.stringify(content),
    { purpose: 'options', subject: name, account: 'acme', ...('url' in sealedFor ? {} : { url }), ...sealedFor },
    toSealingKey(to),
  )
const sealLarge = (sealedFor: Partial<SealedFor>, content: SealedOptions = { options: { styles: 's3cret' } }) =>
  sealFor({ purpose: 'large-options', url: undefined, ...sealedFor }, content)

const sourcesOf = (storage: OptionsSources['storage'], optionPolicy = DEFAULT_OPTION_POLICY): OptionsSources => ({
  keys: { openingKeys: [key] },
  clients: { secrets: { find: async () => undefined } },
  ...{ storage, report, config: { optionPolicy } },
})

function open(spec: Partial<ScreenshotSpec>, objects: Record<string, string> = {}, policy = DEFAULT_OPTION_POLICY) {
  const read: string[] = []
  const storage = {
    readText: async (asked: string) => {
      read.push(asked)
      return objects[asked]
    },
  }
  const shot = aScreenshot({ name, spec: { url, accountName: 'acme', ...spec } })
  const opened = openOptions(shot, sourcesOf(storage, policy))
  return { opened, read }
}
const messageOf = (opened: Promise<unknown>): Promise<string> =>
  opened.then(
    () => 'not refused',
    (error: unknown) => (error instanceof OptionsError ? error.message : `not refused: ${error}`),
  )
const fault = (spec: Partial<ScreenshotSpec>, objects?: Record<string, string>) => messageOf(open(spec, objects).opened)

t.test('openOptions returns the options of the spec unchanged', async (t) => {
  t.strictSame(await open({}).opened, { options: undefined, privateOptions: undefined })
  t.strictSame(await open({ options: { delay: 5 } }).opened, { options: { delay: 5 }, privateOptions: undefined })
})

t.test('openOptions opens options that were sealed to this object', async (t) => {
  const { opened } = open({ sealedOptions: await sealFor({}), options: { delay: 5 } })
  t.strictSame(await opened, { options: { delay: 5 }, ...secret })
})

t.test('openOptions reads large options of its own name or of its batch from the bucket', async (t) => {
  for (const [subject, batchId] of [
    [name, undefined],
    ['batch_1', 'batch_1'],
  ] as const) {
    const optionsObject = optionsKey('acme', subject)
    const spec = { optionsObject, options: { delay: 5 }, ...(batchId ? { batchId } : {}) }
    const { opened } = open(spec, { [optionsObject]: await sealLarge({ subject }) })
    t.strictSame(await opened, { options: { delay: 5, styles: 's3cret' }, privateOptions: undefined })
  }
})

t.test('large private options follow a changed URL: they open only for the URL for which they were sealed', async (t) => {
  const optionsObject = optionsKey('acme', name)
  const opened = async (sealedFor: Partial<SealedFor>) => ({ [optionsObject]: await sealLarge(sealedFor, secret) })
  t.match(await open({ optionsObject }, await opened({ url })).opened, secret)
  t.match(await open({ optionsObject }, await opened({ url: undefined })).opened, secret, 'of an earlier version')
  const message = await fault({ optionsObject, url: 'https://evil.example/' }, await opened({ url }))
  t.match(message, /cannot be opened: the text belongs to another object/)
})

t.test('after an upgrade, a schedule fails for cookies and headers that an earlier version accepted', async (t) => {
  const [prefixed, insecure] = [
    { name: '__Host-a', value: ' 1 ', path: '/?a' },
    { name: 'b', value: '2', sameSite: 'None' },
  ]
  const headers = { 'x-a': '1', 'X-A': '2', 'Sec-Fetch-Site': 'none' }
  const privateOptions = { cookies: [prefixed, insecure], headers, basicAuthUsername: 'a:b', basicAuthPassword: 'c' }
  t.notOk(PrivateOptions.safeParse(privateOptions).success, 'a gateway refuses them now')
  t.strictSame((await open({ sealedOptions: await sealFor({}, { privateOptions }) }).opened).privateOptions, privateOptions)
})

t.test('openOptions merges private options from all sources', async (t) => {
  const optionsObject = optionsKey('acme', name)
  const large = await sealLarge({}, { privateOptions: { headers: { a: 'b' } } })
  const { opened } = open({ optionsObject, sealedOptions: await sealFor({}) }, { [optionsObject]: large })
  t.strictSame((await opened).privateOptions, { headers: { a: 'b' }, authorization: 'Bearer s3cret' })
})

t.test('openOptions refuses hidden options that contradict the others, without quoting them', async (t) => {
  const optionsObject = optionsKey('acme', name)
  const html = await sealLarge({}, { options: { html: 's3cret' } })
  t.match(await fault({ optionsObject, options: { markdown: 'a' } }, { [optionsObject]: html }), /html and markdown exclude each other/)
  const credentials = await sealFor({}, { privateOptions: { proxyUsername: 's3cret' } })
  t.match(await fault({ sealedOptions: credentials }), /^proxy_username needs proxy/)
  const both = await sealFor({}, { privateOptions: { authorization: 's3cret', headers: { Authorization: 's3cret' } } })
  t.match(await fault({ sealedOptions: both }), /^headers must not contain Authorization/)
  const { privateOptions } = await open({ sealedOptions: credentials, options: { proxy: 'http://a.example' } }).opened
  t.strictSame(privateOptions, { proxyUsername: 's3cret' })
})

const copied: [string, Partial<SealedFor>][] = [
  ['of another object', { subject: 'scr-2' }],
  ['of a batch', { subject: 'batch_1', url: undefined }],
  ['of another account', { account: 'other' }],
  ['of another URL', { url: 'https://evil.example/' }],
  ['of a webhook secret', { purpose: 'signing-secret' }],
  ['of a large object', { purpose: 'large-options', url: undefined }],
]
for (const [whose, sealedFor] of copied)
  t.test(`openOptions rejects a copied sealed text: ${whose}`, async (t) => {
    const message = await fault({ sealedOptions: await sealFor(sealedFor), batchId: 'batch_1' })
    t.match(message, /cannot be opened/)
    t.notMatch(message, /s3cret/)
  })

t.test('openOptions rejects a malformed sealed text, or one that is sealed to another key', async (t) => {
  const spoilt = (await sealFor({})).replace(/.{20}$/, 'A'.repeat(20))
  const foreign = [await sealFor({}, secret, newOpeningKey('k1')), await sealFor({}, secret, newOpeningKey('k2'))]
  for (const sealedOptions of ['', 'a.b.c.d.e', '{}', spoilt, ...foreign]) t.match(await fault({ sealedOptions }), /cannot be opened/)
})

t.test('openOptions rejects unknown content without quoting it', async (t) => {
  for (const content of [{ privateOptions: { s3cret: 's3cret' } }, { options: { delay: 's3cret' } }, ['s3cret']]) {
    const message = await fault({ sealedOptions: await sealFor({}, content) })
    t.match(message, /this version cannot read/)
    t.notMatch(message, /s3cret/)
  }
})

t.test('openOptions never reads an object of another Screenshot', async (t) => {
  const options = ['other/scr-1', 'acme/scr-2', 'acme/../acme/scr-1', 'acme/batch_2'].map((name) => `options/${name}.jwe`)
  for (const optionsObject of [...options, 'users/acme/scr_1.png', '']) {
    const { opened, read } = open({ optionsObject, batchId: 'batch_1' })
    await t.rejects(opened, { name: 'OptionsError', message: /an object of another Screenshot/ }, optionsObject)
    t.strictSame(read, [])
  }
})

t.test('openOptions rejects an object that was copied to this Screenshot’s key', async (t) => {
  const optionsObject = optionsKey('acme', name)
  for (const sealedFor of [{ subject: 'scr-2' }, { account: 'other' }, { purpose: 'options' as const, url }])
    t.match(await fault({ optionsObject }, { [optionsObject]: await sealLarge(sealedFor) }), /cannot be opened/)
  t.match(await fault({ optionsObject }), /does not exist/)
})

t.test('HTML of the documented size in Chinese was never captured: its object fits below the read limits', async (t) => {
  const optionsObject = optionsKey('acme', name)
  const html = '中'.repeat(2_097_152)
  const sealed = await sealLarge({ subject: name }, { options: { html } })
  const limits: number[] = []
  const storage = {
    readText: async (_: string, maxBytes: number) => {
      limits.push(maxBytes)
      return sealed
    },
  }
  const shot = aScreenshot({ name, spec: { url, accountName: 'acme', optionsObject } })
  const { options } = await openOptions(shot, sourcesOf(storage))
  t.ok(options?.html === html)
  t.equal(limits.length, 1)
  t.ok(limits[0]! >= sealed.length && limits[0]! > 100 * MAX_INLINE_BYTES, `the limit is ${limits[0]}`)
  t.ok(MAX_OPTIONS_BYTES * (4 / 3) < MAX_SEALED_BYTES, 'the largest options in base64')
})

t.test('openOptions rejects disabled options from all sources', async (t) => {
  const policy = { ...DEFAULT_OPTION_POLICY, scripts: false, proxy: false }
  const refused = { code: 'OPTION_NOT_ALLOWED' }
  await t.rejects(open({ options: { scripts: '1' } }, {}, policy).opened, refused)
  const optionsObject = optionsKey('acme', name)
  const objects = { [optionsObject]: await sealLarge({ subject: name }, { options: { initScript: '1' } }) }
  await t.rejects(open({ optionsObject }, objects, policy).opened, refused)
  const sealedOptions = await sealFor({}, { privateOptions: { proxyUsername: 'a' } })
  await t.rejects(open({ sealedOptions }, {}, policy).opened, { ...refused, message: /proxy_username/ })
  await t.resolves(open({ options: { bypassCsp: true, delay: 1 } }, {}, policy).opened)
})

const strange: [what: string, options: string, message: RegExp][] = [
  ['a reserved name', '{"mediaFeatures":{"__proto__":"x"}}', /^spec\.options\.mediaFeatures\.__proto__ is a reserved name/],
  ['an unknown media feature', '{"mediaFeatures":{"Color Gamut":"p3"}}', /^spec\.options\.mediaFeatures\.Color Gamut: invalid/],
  ['a palette of one color', '{"imagePaletteColors":1}', /^spec\.options\.imagePaletteColors: invalid/],
]
for (const [what, options, message] of strange)
  t.test(`openOptions rejects options that only the API server accepts: ${what}`, async (t) =>
    t.match(await fault({ options: JSON.parse(options) }), message),
  )

t.test('openOptions rejects a reserved name in sealed options', async (t) => {
  const content = JSON.parse('{"privateOptions":{"localStorage":{"constructor":"s3cret"}}}')
  const message = await fault({ sealedOptions: await sealFor({}, content) })
  t.equal(message, 'the sealed options.privateOptions.localStorage.constructor is a reserved name. Remove the field')
})

const aSecret = (text: string, type = PRIVATE_OPTIONS_TYPE, key = 'options.json'): Secret =>
  ({ metadata: { name: 'sign-in' }, type, data: { [key]: Buffer.from(text).toString('base64') } }) as unknown as Secret
const read = (secret: Secret | undefined) => readPrivateSecret('sign-in', { find: async () => secret })

t.test('readPrivateSecret reads private options by their camel-case names', async (t) => {
  const options = { authorization: 'Bearer x', cookies: [{ name: 'a', value: 'b', httpOnly: true }] }
  t.strictSame(await read(aSecret(JSON.stringify(options))), options)
})

t.test('readPrivateSecret reports a missing Secret and one of another type with the same message', async (t) => {
  const message = 'no Secret sign-in of type tintype.dev/private-options exists'
  await t.rejects(read(undefined), { name: 'OptionsError', message })
  await t.rejects(read(aSecret('{}', 'Opaque')), { name: 'OptionsError', message })
  await t.rejects(read({ metadata: { name: 'sign-in' } } as Secret), { name: 'OptionsError', message })
})

const wrong: [string, string, RegExp][] = [
  ['invalid JSON', 's3cret', /: the text must be an object with names and values$/],
  ['a list', '["s3cret"]', /: the text must be an object with names and values$/],
  ['a public option', '{"s3cret":1}', /: the text has an unknown name. Known names: headers, cookies, authorization, /],
  [
    'wrong values',
    '{"authorization":"s3cret\\n","headers":{"host":"s3cret"},"cookies":["s3cret"]}',
    /: headers: headers must not contain Host.*\. cookies\[0\] must be an object.*\. authorization must be printable ASCII/,
  ],
  ['the name of a header', '{"headers":{"s3cret ":"a"}}', /: a name in headers must be the name of a header/],
  ['the value of a header', '{"headers":{"s3cret":"\\n"}}', /: headers must be printable ASCII/],
  [
    'a cookie of another program',
    '{"cookies":[{"name":"a","value":"s3cret","expires":"Wed, 21 Oct 2026 07:28:00 GMT","sameSite":"none","http_only":true}]}',
    /cookies\[0\]\.expires must be Unix time in whole seconds, such as \d+.*cookies\[0\]\.sameSite must be one of "Strict", "Lax", "None".*cookies\[0\] has an unknown name. Known names: name, value, domain, path, expires, httpOnly/,
  ],
  ['headers.__proto__', '{"headers":{"__proto__":"s3cret"}}', /: headers\.__proto__ is a reserved name. Remove the field$/],
  ['a contradiction', '{"authorization":"s3cret","headers":{"Authorization":"s3cret"}}', /headers must not contain Authorization/],
]
for (const [what, text, message] of wrong)
  t.test(`readPrivateSecret rejects ${what} without quoting it`, async (t) => {
    const found = await messageOf(read(aSecret(text)))
    t.match(found, message)
    t.notMatch(found, /s3cret/)
  })

t.test('readPrivateSecret requires its own key in the Secret', async (t) => {
  await t.rejects(read(aSecret('{}', PRIVATE_OPTIONS_TYPE, 'other.json')), { name: 'OptionsError' })
})
