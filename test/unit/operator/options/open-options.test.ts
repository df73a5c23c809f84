import t from 'tap'
import { newOpeningKey, type SealedFor, seal, toSealingKey } from '../../../../crds/src/crypto/sealed.ts'
import type { ScreenshotSpec } from '../../../../crds/src/kinds/screenshot.ts'
import { DEFAULT_OPTION_POLICY } from '../../../../crds/src/options/policy.ts'
import { PrivateOptions } from '../../../../crds/src/options/private.ts'
import { MAX_INLINE_BYTES, MAX_OPTIONS_BYTES, MAX_SEALED_BYTES, type SealedOptions } from '../../../../crds/src/options/sealed-options.ts'
import { optionsKey } from '../../../../crds/src/records/storage-keys.ts'
import { type OptionsSources, openOptions } from '../../../../operator/src/options/open-options.ts'
import { OptionsError } from '../../../../operator/src/options/options-error.ts'
import { aScreenshot } from '../../../support/fakes/builders.ts'

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
const fault = async (spec: Partial<ScreenshotSpec>, objects?: Record<string, string>): Promise<string> => {
  const error = await open(spec, objects).opened.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof OptionsError ? error.message : `not refused: ${error}`
}

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
  const privateOptions = {
    cookies: [
      { name: '__Host-a', value: ' 1 ', path: '/?a' },
      { name: 'b', value: '2', sameSite: 'None' },
    ],
    headers: { 'x-a': '1', 'X-A': '2', 'Sec-Fetch-Site': 'none' },
    basicAuthUsername: 'a:b',
    basicAuthPassword: 'c',
  }
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
  t.strictSame((await open({ sealedOptions: credentials, options: { proxy: 'http://a.example' } }).opened).privateOptions, {
    proxyUsername: 's3cret',
  })
})

const copied: [string, Partial<SealedFor>][] = [
  ['of another object', { subject: 'scr-2' }],
  ['of a batch', { subject: 'batch_1', url: undefined }],
  ['of another account', { account: 'other' }],
  ['of another URL', { url: 'https://evil.example/' }],
  ['of a webhook secret', { purpose: 'signing-secret' }],
  ['of a large object', { purpose: 'large-options', url: undefined }],
]
for (const [whose, sealedFor] of copied) {
  t.test(`openOptions rejects a copied sealed text: ${whose}`, async (t) => {
    const message = await fault({ sealedOptions: await sealFor(sealedFor), batchId: 'batch_1' })
    t.match(message, /cannot be opened/)
    t.notMatch(message, /s3cret/)
  })
}

t.test('openOptions rejects a malformed sealed text, or one that is sealed to another key', async (t) => {
  const spoilt = (await sealFor({})).replace(/.{20}$/, 'A'.repeat(20))
  for (const sealedOptions of [
    '',
    'a.b.c.d.e',
    '{}',
    spoilt,
    await sealFor({}, secret, newOpeningKey('k1')),
    await sealFor({}, secret, newOpeningKey('k2')),
  ])
    t.match(await fault({ sealedOptions }), /cannot be opened/)
})

t.test('openOptions rejects unknown content without quoting it', async (t) => {
  for (const content of [{ privateOptions: { s3cret: 's3cret' } }, { options: { delay: 's3cret' } }, ['s3cret']]) {
    const message = await fault({ sealedOptions: await sealFor({}, content) })
    t.match(message, /this version cannot read/)
    t.notMatch(message, /s3cret/)
  }
})

t.test('openOptions never reads an object of another Screenshot', async (t) => {
  const theirs = [
    'options/other/scr-1.jwe',
    'options/acme/scr-2.jwe',
    'options/acme/../acme/scr-1.jwe',
    'users/acme/scr_1.png',
    'options/acme/batch_2.jwe',
    '',
  ]
  for (const optionsObject of theirs) {
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

t.test('openOptions has a read limit far above the inline limit of the gateway', async (t) => {
  const optionsObject = optionsKey('acme', name)
  const limits: number[] = []
  const storage = { readText: async (_: string, maxBytes: number) => void limits.push(maxBytes) }
  const shot = aScreenshot({ name, spec: { url, accountName: 'acme', optionsObject } })
  await t.rejects(openOptions(shot, sourcesOf(storage)))
  t.ok((limits[0] ?? 0) > 100 * MAX_INLINE_BYTES)
})

t.test('HTML of the documented size in Chinese is never captured: its object fits below the read limits', async (t) => {
  const optionsObject = optionsKey('acme', name)
  const html = '中'.repeat(2_097_152)
  const sealed = await sealLarge({ subject: name }, { options: { html } })
  const storage = {
    readText: async (_: string, maxBytes: number) => {
      if (sealed.length > maxBytes) throw new Error(`${sealed.length} bytes are more than ${maxBytes}`)
      return sealed
    },
  }
  const shot = aScreenshot({ name, spec: { url, accountName: 'acme', optionsObject } })
  const { options } = await openOptions(shot, sourcesOf(storage))
  t.ok(options?.html === html)
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
for (const [what, options, message] of strange) {
  t.test(`openOptions rejects options that only the API server accepts: ${what}`, async (t) => {
    t.match(await fault({ options: JSON.parse(options) }), message)
  })
}

t.test('openOptions rejects a reserved name in sealed options', async (t) => {
  const content = JSON.parse('{"privateOptions":{"localStorage":{"constructor":"s3cret"}}}')
  const message = await fault({ sealedOptions: await sealFor({}, content) })
  t.equal(message, 'the sealed options.privateOptions.localStorage.constructor is a reserved name. Remove the field')
})
