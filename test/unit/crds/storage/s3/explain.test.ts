import t from 'tap'
import { explain } from '../../../../../crds/storage/s3/explain.ts'

// test/integration/storage has the errors of real stores.

const access = { endpoint: 'https://s3.example', region: 'us-east-1', bucket: 'tintype', accessKey: 'key', secretKey: 'secret' }
const hosted = { ...access, pathStyle: false }

t.test('explain names the host with the bucket, and the setting that keeps the bucket out of it', async (t) => {
  for (const code of ['ENOTFOUND', 'ERR_TLS_CERT_ALTNAME_INVALID']) {
    t.match(explain({ code, access: hosted }), /https:\/\/tintype\.s3\.example .*set storage\.external\.pathStyle to true/, code)
    t.match(explain({ code, access }), /https:\/\/s3\.example (?!.*pathStyle)/, code)
  }
  t.match(explain({ code: 'NoSuchBucket', access: hosted }), /create it.*set storage\.external\.pathStyle to true/)
  t.notMatch(explain({ code: 'NoSuchBucket', access }), /pathStyle/)
})

t.test('explain names the setting for providers that refuse the bucket in the path', async (t) => {
  for (const code of ['SecondLevelDomainForbidden', 'PathStyleDomainForbidden'])
    t.match(explain({ code, access }), /set storage\.external\.pathStyle to false/, code)
})

t.test('explain has no sentence for failures that a retry can solve', async (t) => {
  t.equal(explain({ code: 'SlowDown', access }), undefined)
})
