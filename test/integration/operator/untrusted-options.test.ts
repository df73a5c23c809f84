import { Client } from 'minio'
import t from 'tap'
import { storeOptions } from '../../../api-gateway/src/options/store-options.ts'
import { openBucket } from '../../../api-gateway/src/store/bucket.ts'
import { newOpeningKey, type SealedFor, seal, toSealingKey } from '../../../crds/src/crypto/sealed.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { MAX_SEALED_BYTES } from '../../../crds/src/options/sealed-options.ts'
import { optionsKey } from '../../../crds/src/records/storage-keys.ts'
import { JUNK, sumIgnored, toShort } from '../../support/attack/junk.ts'
import { startStage } from './stage.ts'

// Arbitrary objects under options/ of the bucket, written with the store's own key: the capture fails once, with a code, and the operator
// continues.

const ACCOUNT = 'acme'
const PAGE_URL = 'https://example.com/'
const stage = await startStage(t)
const { node, minio, ignored } = stage
const { endpoint, port, accessKey, secretKey } = minio
const access = { endpoint, accessKey, secretKey, region: 'us-east-1', bucket: 'tintype' }
const root = new Client({ endPoint: '127.0.0.1', port, useSSL: false, accessKey, secretKey })
const objects = openBucket(access)
const leader = await stage.lead()
await stage.setPool({ minIdle: 1, maxPods: 1 })
await stage.whenIdle(1)
const sealingKey = toSealingKey(stage.openingKey)

const newName = () => toObjectName(newId('scr', new Date()))
const sealTo = (subject: string, text: string, sealedFor: Partial<SealedFor> = {}, key = sealingKey) =>
  seal(text, { purpose: 'large-options', subject, account: ACCOUNT, ...sealedFor }, key)
const OPTIONS = JSON.stringify({ options: { styles: 's3cret' } })
const NESTED = '['.repeat(100_000) + ']'.repeat(100_000)

/** Objects by their defect; each is created for the Screenshot at whose key it is stored. */
const cases: { what: string; reason?: string; make: (name: string) => Promise<string | Buffer> | string | Buffer }[] = [
  ...JUNK.map((junk) => ({ what: `junk ${toShort(junk)}`, reason: junk.length > MAX_SEALED_BYTES ? 'size' : 'content', make: () => junk })),
  { what: 'invalid parts of a sealed text', make: () => 'AAAA..AAAA.AAAA.AAAA' },
  { what: 'a header that is other JSON', make: () => `${Buffer.from('7').toString('base64url')}..AAAA.AAAA.AAAA` },
  { what: 'another account’s options', make: (name) => sealTo(name, OPTIONS, { account: 'other' }) },
  { what: 'another Screenshot’s options', make: () => sealTo(newName(), OPTIONS) },
  { what: 'a batch’s options', make: () => sealTo('batch_1', OPTIONS) },
  { what: 'options sealed for a field', make: (name) => sealTo(name, OPTIONS, { purpose: 'options', url: PAGE_URL }) },
  { what: 'a signing secret', make: (name) => sealTo(name, 's3cret', { purpose: 'signing-secret' }) },
  { what: 'options sealed to another key', make: (name) => sealTo(name, OPTIONS, {}, toSealingKey(newOpeningKey('k1'))) },
  { what: 'sealed text that is not JSON', make: (name) => sealTo(name, 'not JSON') },
  { what: 'sealed options that do not exist', make: (name) => sealTo(name, '{"options":{"nothing":1},"x":2}') },
  { what: 'sealed options of a reserved name', make: (name) => sealTo(name, '{"options":{"__proto__":{"delay":1}}}') },
  { what: 'sealed nested lists', make: (name) => sealTo(name, NESTED) },
  { what: 'sealed options with nested lists', make: (name) => sealTo(name, `{"options":{"styles":${NESTED}}}`) },
]

for (const { what, reason = 'content', make } of cases) {
  t.test(`a capture whose options object contains ${what} fails once, and nothing is deleted`, async (t) => {
    const name = newName()
    const key = optionsKey(ACCOUNT, name)
    const content = Buffer.from(await make(name))
    await root.putObject('tintype', key, content)
    const shot = await stage.createNamed(name, { accountName: ACCOUNT, url: PAGE_URL, optionsObject: key })
    const done = await stage.whenFinished(shot)
    t.match(done.status, { phase: 'Failed', attempt: 1, result: { error: { code: 'INVALID_OPTIONS', message: String } } })
    t.notMatch(JSON.stringify(done), 's3cret')
    t.notOk(
      node.orders.some(({ order }) => order.name === name),
      'no runner receives an order',
    )
    t.strictSame(
      ignored.filter((each) => JSON.stringify(each).includes(key)),
      [{ key, kind: 'options', reason }],
      'it is logged once',
    )
    t.strictSame((await root.statObject('tintype', key)).size, content.length, 'it is unchanged')
  })
}

t.test('ignored objects under options/ are counted, and the runner captures the next page with large options', async (t) => {
  const metrics = await leader.metrics.registry.metrics()
  for (const reason of ['size', 'content']) {
    const count = cases.filter((each) => (each.reason ?? 'content') === reason).length
    t.ok(sumIgnored(metrics, 'options', reason) >= count, reason)
  }
  const name = newName()
  const options = { styles: '/* long */'.repeat(1_000) }
  const stored = await storeOptions({ options, account: ACCOUNT, subject: name, url: PAGE_URL }, { sealingKey: () => sealingKey, objects })
  const done = await stage.whenFinished(await stage.createNamed(name, { accountName: ACCOUNT, url: PAGE_URL, ...stored }))
  t.match(done.status, { phase: 'Completed', attempt: 1 })
  t.strictSame(node.orders.find(({ order }) => order.name === name)?.order.options, options)
})
