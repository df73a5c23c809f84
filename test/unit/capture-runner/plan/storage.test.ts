import t from 'tap'
import { buildCopy, toCopyKey } from '../../../../capture-runner/src/plan/storage.ts'
import { withDefaults } from '../../../../crds/src/options/catalog.ts'

const names = { id: 'scr_1', url: 'https://www.example.com:8443/a?b', format: 'webp', now: new Date('2026-11-21T23:59:59.999Z') }

t.test('toCopyKey replaces placeholders in braces', async (t) => {
  t.equal(toCopyKey('{id}.{format}', names), 'scr_1.webp')
  t.equal(toCopyKey('a/{host}/{date}/{id}-{id}.{format}', names), 'a/www.example.com/2026-11-21/scr_1-scr_1.webp')
  t.equal(toCopyKey('{host}', { ...names, url: 'about:html' }), 'none')
  t.equal(toCopyKey('{host}', { ...names, url: 'http://[2001:db8::1]/' }), '-2001-db8--1-')
})

t.test('toCopyKey leaves a name in braces as it is when it does not know the name', async (t) => {
  t.equal(toCopyKey('{id}/{title}', names), 'scr_1/{title}')
})

t.test('buildCopy plans a copy if all required options are set', async (t) => {
  const options = { storageBucket: 'abc', storageEndpoint: 'https://s3.example.com' }
  const secrets = { storageAccessKeyId: 'id', storageSecretAccessKey: 'secret' }
  t.strictSame(buildCopy(withDefaults(options), secrets), {
    copy: {
      bucket: 'abc',
      endpoint: 'https://s3.example.com',
      region: 'us-east-1',
      accessKey: 'id',
      secretKey: 'secret',
      path: '{id}.{format}',
    },
  })
  t.match(buildCopy(withDefaults({ ...options, storagePathStyle: false }), secrets), { copy: { pathStyle: false } })
  t.strictSame(buildCopy(withDefaults(options)), {})
  t.strictSame(buildCopy(withDefaults(undefined), secrets), {})
})
