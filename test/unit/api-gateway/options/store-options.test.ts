import t from 'tap'
import { storeBatchOptions, storeOptions } from '../../../../api-gateway/src/options/store-options.ts'
import { newOpeningKey, toSealingKey, unseal } from '../../../../crds/src/crypto/sealed.ts'
import { ScreenshotSpec } from '../../../../crds/src/kinds/screenshot.ts'

const key = newOpeningKey('k1')
const url = 'https://example.com/'
const single = { account: 'acme', subject: 'scr-1', url }

function place() {
  const written = new Map<string, string>()
  const write = async (name: string, text: string) => {
    written.set(name, text)
    return 'etag'
  }
  return { written, deps: { sealingKey: () => toSealingKey(key), objects: { write } } }
}
const openOwn = async (sealed: string | undefined, name: string, address = url) =>
  JSON.parse(await unseal(sealed ?? '', { purpose: 'options', subject: name, account: 'acme', url: address }, [key]))
const openLarge = async (sealed: string | undefined, subject: string, address?: string) =>
  JSON.parse(await unseal(sealed ?? '', { purpose: 'large-options', subject, account: 'acme', url: address }, [key]))

t.test('storeOptions keeps ordinary options where kubectl shows them, and asks for no key', async (t) => {
  const { written, deps } = place()
  const noKey = { ...deps, sealingKey: () => t.fail('asked for a key') as never }
  const options = { delay: 5, styles: 'p{}' }
  t.strictSame(await storeOptions({ ...single, options }, noKey), { options })
  t.strictSame(await storeOptions(single, noKey), {})
  t.equal(written.size, 0)
})

t.test('storeOptions seals private options to the name and the address of the object', async (t) => {
  const { written, deps } = place()
  const privateOptions = { authorization: 'Bearer s3cret', headers: { 'X-Key': 's3cret' } }
  const stored = await storeOptions({ ...single, options: { delay: 5 }, privateOptions }, deps)
  t.match(stored, { options: { delay: 5 }, hiddenOptions: ['authorization', 'headers'] })
  t.notMatch(JSON.stringify(stored), /s3cret|X-Key/)
  t.strictSame(await openOwn(stored.sealedOptions, 'scr-1'), { privateOptions })
  await t.rejects(openOwn(stored.sealedOptions, 'scr-2'), 'another name')
  await t.rejects(openOwn(stored.sealedOptions, 'scr-1', 'https://example.org/'), 'another address')
  t.equal(written.size, 0)
  t.ok(ScreenshotSpec.safeParse({ url, ...stored }).success)
})

t.test('storeOptions moves private options that are too long too', async (t) => {
  const { written, deps } = place()
  const cookies = Array.from({ length: 100 }, (_, index) => ({ name: `c${index}`, value: 'v'.repeat(4000) }))
  const stored = await storeOptions({ ...single, privateOptions: { cookies } }, deps)
  t.strictSame(stored, { optionsObject: 'options/acme/scr-1.jwe', hiddenOptions: ['cookies'] })
  const [sealed] = [...written.values()]
  t.strictSame(await openLarge(sealed, 'scr-1', url), { privateOptions: { cookies } })
  for (const address of ['https://example.org/', undefined]) await t.rejects(openLarge(sealed, 'scr-1', address), 'another address')
  const all = await storeOptions({ ...single, options: { scripts: 's'.repeat(9_000) }, privateOptions: { cookies } }, deps)
  t.strictSame(all.hiddenOptions, ['scripts', 'cookies'])
  t.match(await openLarge([...written.values()][0], 'scr-1', url), { options: {}, privateOptions: { cookies } })
})

t.test('storeOptions leaves long selectors in the object, which nothing could move', async (t) => {
  const { deps } = place()
  const options = { waitForSelector: '💡'.repeat(512), click: '💡'.repeat(512), timeout: 5000 }
  t.strictSame(await storeOptions({ ...single, options }, deps), { options })
})

t.test('storeOptions fits in an object whatever the options are', async (t) => {
  const { deps } = place()
  const long = { headers: { a: 'x'.repeat(8100) } }
  const options = { styles: 's'.repeat(262_144), scripts: '💡'.repeat(131_072), click: '💡'.repeat(512), waitForSelector: '💡'.repeat(512) }
  const stored = await storeOptions({ ...single, options, privateOptions: long }, deps)
  t.ok(ScreenshotSpec.safeParse({ url, ...stored }).success)
  t.ok(JSON.stringify(stored).length < 20_000)
})

t.test('storeBatchOptions writes one object for all, and seals each one’s private options to it alone', async (t) => {
  const { written, deps } = place()
  const owners = [
    { name: 'scr-1', url },
    { name: 'scr-2', url: 'https://example.org/', privateOptions: { basicAuthUsername: 'u', basicAuthPassword: 'p' } },
  ]
  const styles = 'x'.repeat(9000)
  const request = { account: 'acme', subject: 'batch_1', options: { styles }, privateOptions: { headers: { a: 'b' } }, owners }
  const [first, second] = await storeBatchOptions(request, deps)
  t.strictSame([...written.keys()], ['options/acme/batch_1.jwe'])
  t.match([first?.optionsObject, second?.optionsObject], ['options/acme/batch_1.jwe', 'options/acme/batch_1.jwe'])
  t.strictSame(await openLarge([...written.values()][0], 'batch_1'), { options: { styles } })
  t.strictSame(await openOwn(first?.sealedOptions, 'scr-1'), { privateOptions: { headers: { a: 'b' } } })
  t.strictSame(await openOwn(second?.sealedOptions, 'scr-2', 'https://example.org/'), {
    privateOptions: { headers: { a: 'b' }, basicAuthUsername: 'u', basicAuthPassword: 'p' },
  })
  t.strictSame(second?.hiddenOptions, ['styles', 'headers', 'basicAuthUsername', 'basicAuthPassword'])
})
