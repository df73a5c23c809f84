import t from 'tap'
import { z } from 'zod'
import {
  checkStorageSettings,
  OptionalStorageUrl,
  storageSettings,
  toStorageAccess,
} from '../../../../crds/src/runtime/storage-settings.ts'

const Settings = z
  .object({ ...storageSettings, TINTYPE_STORAGE_PUBLIC_URL: OptionalStorageUrl.default('') })
  .superRefine(checkStorageSettings)
const keys = { TINTYPE_STORAGE_ACCESS_KEY: 'key', TINTYPE_STORAGE_SECRET_KEY: 'secret' }
const read = (given: Record<string, string>) => Settings.safeParse({ ...keys, ...given })

t.test('storage settings describe the bucket', async (t) => {
  const endpoint = 'http://[2001:db8::10]:9000'
  t.strictSame(toStorageAccess(Settings.parse({ ...keys, TINTYPE_STORAGE_ENDPOINT: endpoint, TINTYPE_STORAGE_REGION: 'eu-test-1' })), {
    ...{ endpoint, region: 'eu-test-1', bucket: 'tintype', accessKey: 'key', secretKey: 'secret', pathStyle: true },
  })
  const hosted = Settings.parse({ ...keys, TINTYPE_STORAGE_ENDPOINT: 'https://s3.example/', TINTYPE_STORAGE_PATH_STYLE: 'false' })
  t.match(toStorageAccess(hosted), { endpoint: 'https://s3.example/', pathStyle: false })
})

const wrong: [endpoint: string, words: RegExp][] = [
  ['minio:9000', /must begin with http:\/\/ or https:\/\//],
  ['ftp://s3.example', /must begin with http:\/\/ or https:\/\//],
  ['http://2001:db8::10:9000', /IPv6 address in brackets/],
  ['http://s3.example:90000', /port of at most 65535/],
  ['http://', /must be a URL with a host/],
  ['https://s3.example/tintype', /must end after the host and the port/],
  ['https://s3.example?x=1', /must end after the host and the port/],
  ['https://key:secret@s3.example', /must not contain a user/],
]
for (const [url, words] of wrong) {
  for (const name of ['TINTYPE_STORAGE_ENDPOINT', 'TINTYPE_STORAGE_PUBLIC_URL']) {
    t.test(`${name} ${url} is rejected in one line`, async (t) => {
      const { error } = read({ [name]: url })
      t.equal(error?.issues.length, 1)
      t.match(error?.issues[0]?.message, words)
      t.notMatch(error?.issues[0]?.message, /\n|secret/)
      t.match(z.prettifyError(error!), `at ${name}`)
    })
  }
}

for (const host of ['192.0.2.7:9000', '[2001:db8::10]']) {
  t.test(`storage settings reject the bucket in the host name of ${host}`, async (t) => {
    for (const name of ['TINTYPE_STORAGE_ENDPOINT', 'TINTYPE_STORAGE_PUBLIC_URL']) {
      const given = { TINTYPE_STORAGE_ENDPOINT: 'https://s3.example', [name]: `http://${host}` }
      t.ok(read(given).success)
      const { error } = read({ ...given, TINTYPE_STORAGE_PATH_STYLE: 'false' })
      t.match(error?.issues, [{ path: [name], message: /has no subdomain.*set TINTYPE_STORAGE_PATH_STYLE to true/ }])
    }
  })
}
