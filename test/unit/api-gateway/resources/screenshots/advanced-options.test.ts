import t from 'tap'
import { unseal } from '../../../../../crds/src/crypto/sealed.ts'
import { DEFAULT_OPTION_POLICY } from '../../../../../crds/src/options/policy.ts'
import { aGateway, OPENING_KEY } from '../../fakes.ts'

type Gateway = ReturnType<typeof aGateway>

const url = 'https://example.com/'
const post = async ({ app, headers }: Gateway, payload: object, path = '/screenshots') => {
  const response = await app.inject({ method: 'POST', url: `/v1${path}`, headers, payload })
  return { status: response.statusCode, body: response.json() }
}
const specsOf = ({ screenshots }: Gateway) => [...screenshots.objects.values()].map(({ spec }) => spec)

t.test('POST /screenshots takes markup in place of a url, and shows where it pretends to be', async (t) => {
  const gateway = aGateway()
  const html_base_url = 'https://example.com/invoices/'
  t.match(await post(gateway, { options: { html: '<p>' } }), { status: 202, body: { url: 'about:html', options: { html: '<p>' } } })
  t.match(await post(gateway, { options: { markdown: '# a', html_base_url } }), { status: 202, body: { url: html_base_url } })
  t.match(specsOf(gateway), [{ url: 'about:html', options: { html: '<p>' } }, { url: html_base_url }])
})

t.test('POST /screenshots stores large markup outside the object and never shows it', async (t) => {
  const gateway = aGateway()
  const html = `<p>${'x'.repeat(2_000_000)}`
  t.match(await post(gateway, { options: { html } }), { status: 202, body: { url: 'about:html', options: { html: '…' } } })
  t.match(specsOf(gateway), [{ url: 'about:html', options: undefined, hiddenOptions: ['html'] }])
})

t.test('POST /screenshots seals what a proxy, storage and headers hold, and shows none of it', async (t) => {
  const gateway = aGateway()
  const options = { proxy: 'socks5://ada:s3cret@proxy.example.com:1080', local_storage: { token: 's3cret' }, headers_scope: 'all' }
  const { status, body } = await post(gateway, { url, options })
  t.equal(status, 202)
  t.match(body.options, { proxy: 'socks5://proxy.example.com:1080', proxy_username: '***', proxy_password: '***', local_storage: '***' })
  const [spec] = specsOf(gateway)
  t.notMatch(JSON.stringify([spec, body]), 's3cret')
  const [name = ''] = [...gateway.screenshots.objects.values()].map(({ metadata }) => metadata.name)
  const sealed = await unseal(spec?.sealedOptions ?? '', { purpose: 'options', subject: name, account: 'acme', url }, [OPENING_KEY])
  t.strictSame(JSON.parse(sealed), {
    privateOptions: { proxyUsername: 'ada', proxyPassword: 's3cret', localStorage: { token: 's3cret' } },
  })
})

t.test('POST /screenshots and its batch return 403 for options that are switched off', async (t) => {
  const gateway = aGateway({ optionPolicy: { ...DEFAULT_OPTION_POLICY, scripts: false } })
  const refused = { status: 403, body: { error: { code: 'OPTION_NOT_ALLOWED', details: [{ path: 'options.init_script' }] } } }
  t.match(await post(gateway, { url, options: { init_script: '1' } }), refused)
  t.match(await post(gateway, { urls: [url], options: { init_script: '1' } }, '/screenshots/batch'), refused)
  t.strictSame(specsOf(gateway), [])
})

const storage = {
  storage_bucket: 'acme-pictures',
  storage_endpoint: 'https://s3.example.com',
  storage_path: '{host}/{id}.{format}',
  storage_access_key_id: 's3cret-id',
  storage_secret_access_key: 's3cret',
}

t.test('POST /screenshots rejects clients’ stores unless they are allowed', async (t) => {
  const { status, body } = await post(aGateway(), { url, options: storage })
  t.match({ status, body }, { status: 403, body: { error: { code: 'OPTION_NOT_ALLOWED' } } })
  t.equal(body.error.details.length, 5)
})

t.test('POST /screenshots seals the key of a store and shows only where it is', async (t) => {
  const gateway = aGateway({ optionPolicy: { ...DEFAULT_OPTION_POLICY, storage: true } })
  const { status, body } = await post(gateway, { url, options: storage })
  t.equal(status, 202)
  t.match(body.options, { ...storage, storage_access_key_id: '***', storage_secret_access_key: '***' })
  t.notMatch(JSON.stringify([specsOf(gateway), body]), 's3cret')
  t.match(specsOf(gateway), [
    { options: { storageBucket: 'acme-pictures' }, hiddenOptions: ['storageAccessKeyId', 'storageSecretAccessKey'] },
  ])
})

t.test('POST /screenshots rejects a private store URL and incomplete store options', async (t) => {
  const gateway = aGateway({ optionPolicy: { ...DEFAULT_OPTION_POLICY, storage: true } })
  // Names are left to the runner, which knows what its pool may reach.
  for (const address of ['https://10.0.0.1', 'https://169.254.169.254', 'https://[::1]:9000', 'https://localhost:9000']) {
    const { status, body } = await post(gateway, { url, options: { ...storage, storage_endpoint: address } })
    t.match({ status, body }, { status: 400, body: { error: { details: [{ path: 'options.storage_endpoint' }] } } }, address)
  }
  for (const name of ['storage_endpoint', 'storage_bucket', 'storage_access_key_id', 'storage_secret_access_key'])
    t.equal((await post(gateway, { url, options: { ...storage, [name]: undefined } })).status, 400, name)
  for (const path of ['../a', '/a', 'a//b', 'a/./b', '{url}', '{id', 'a}'])
    t.equal((await post(gateway, { url, options: { ...storage, storage_path: path } })).status, 400, path)
})

t.test('POST /screenshots names the option that was probably meant', async (t) => {
  const { body } = await post(aGateway(), { url, options: { time_zone: 'UTC', acept_language: 'de' } })
  t.match(body.error.details, [{ message: /timezone/ }, { message: /accept_language/ }])
})
