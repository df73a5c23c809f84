import type { Client, LifecycleConfig } from 'minio'
import t from 'tap'
import { runSetup } from '../../../operator/src/setup/run-setup.ts'
import { setupStorage } from '../../../operator/src/setup/setup-storage.ts'
import { openTestStore } from '../../support/servers/test-store.ts'

const store = await openTestStore(t)
const environment = {
  TINTYPE_STORAGE_ENDPOINT: store.endpoint,
  TINTYPE_STORAGE_REGION: 'us-east-1',
  TINTYPE_STORAGE_BUCKET: 'tintype',
  TINTYPE_STORAGE_ROOT_USER: store.accessKey,
  TINTYPE_STORAGE_ROOT_PASSWORD: store.secretKey,
  TINTYPE_UPLOADS_ACCESS_KEY: 'tintype-uploads',
  TINTYPE_UPLOADS_SECRET_KEY: 'secret of the uploads',
  TINTYPE_LINKS_ACCESS_KEY: 'tintype-links',
  TINTYPE_LINKS_SECRET_KEY: 'secret of the links',
  TINTYPE_OPERATOR_ACCESS_KEY: 'tintype-operator',
  TINTYPE_OPERATOR_SECRET_KEY: 'secret of the operator',
  TINTYPE_GATEWAY_ACCESS_KEY: 'tintype-gateway',
  TINTYPE_GATEWAY_SECRET_KEY: 'secret of the gateway',
}
const connect = (accessKey: string, secretKey: string) => store.connect({ accessKey, secretKey })
const operator = connect('tintype-operator', 'secret of the operator')
const gateway = connect('tintype-gateway', 'secret of the gateway')
const root = store.connect()

const picture = 'users/default/scr_01.png'
const write = (client: Client, key: string, bucket = 'tintype') => client.putObject(bucket, key, Buffer.from('x'))

await setupStorage(environment)
await root.makeBucket('other')

t.test('setupStorage sets lifecycle rules in the store, and keeps other rules', async (t) => {
  const days = async () => {
    const { Rule: rules } = (await root.getBucketLifecycle('tintype')) as LifecycleConfig
    return Object.fromEntries(rules.map(({ ID, Filter, Expiration }) => [ID, `${Filter?.Prefix} ${Expiration?.Days}`]))
  }
  const own = {
    'tintype-events': 'events/ 7',
    'tintype-deliveries': 'deliveries/ 7',
    'tintype-undelivered': 'undelivered/ 30',
    'tintype-idempotency': 'idempotency/ 2',
    'tintype-options': 'options/ 2',
    'tintype-users': 'users/ 31',
    'tintype-cache': 'cache/ 31',
    'tintype-batches': 'batches/ 400',
    'tintype-runs': 'runs/ 400',
    'tintype-names': 'names/ 400',
  }
  t.strictSame(await days(), own)
  const theirs = { ID: 'theirs', Status: 'Enabled', Filter: { Prefix: 'reports/' }, Expiration: { Days: 90 } }
  await root.setBucketLifecycle('tintype', { Rule: [theirs] } as LifecycleConfig)
  const plan = { monthlyQuota: 100, retentionDays: 90 }
  const plans = JSON.stringify({ free: plan, basic: plan, growth: plan, scale: plan })
  await setupStorage({ ...environment, TINTYPE_RETENTION_RECORD_DAYS: '500', TINTYPE_PLANS: plans })
  const longer = {
    'tintype-users': 'users/ 91',
    'tintype-batches': 'batches/ 500',
    'tintype-runs': 'runs/ 500',
    'tintype-names': 'names/ 500',
  }
  t.strictSame(await days(), { theirs: 'reports/ 90', ...own, ...longer })
})

t.test('setupStorage may be repeated, and then updates the secrets of users', async (t) => {
  await setupStorage({ ...environment, TINTYPE_GATEWAY_SECRET_KEY: 'another secret' })
  await t.rejects(gateway.bucketExists('tintype'))
  t.ok(await connect('tintype-gateway', 'another secret').bucketExists('tintype'))
  await write(operator, picture)
})

t.test('setupStorage waits for an unavailable store', async (t) => {
  const back = store.restart(1_500)
  await setupStorage(environment)
  await back
  t.ok(await gateway.bucketExists('tintype'))
})

t.test('setupStorage reports a wrong root password', async (t) => {
  const { putPolicy } = await import('../../../operator/src/stores/minio/admin.ts')
  const wrong = store.access({ accessKey: store.accessKey, secretKey: 'wrong' })
  await t.rejects(putPolicy(wrong, 'any', {}), { reason: 'StorageRefused', message: /responded with 403/ })
})

t.test('remove-storage-user deletes a replaced key at once', async (t) => {
  const replaced = {
    ...environment,
    TINTYPE_GATEWAY_ACCESS_KEY: 'tintype-gateway-2',
    TINTYPE_GATEWAY_SECRET_KEY: 'second secret of the gateway',
  }
  await setupStorage(replaced)
  t.ok(await gateway.statObject('tintype', picture), 'a replaced key can still read')
  await runSetup('remove-storage-user', ['tintype-gateway'], replaced)
  await t.rejects(gateway.listBuckets(), { code: 'InvalidAccessKeyId' })
})

t.test('remove-storage-user rejects a key in use and a call without one', async (t) => {
  await t.rejects(runSetup('remove-storage-user', ['tintype-operator'], environment), { message: /tintype-operator is in use/ })
  await t.rejects(runSetup('remove-storage-user', [], environment), { message: /unknown command: remove-storage-user/ })
  t.ok(await operator.statObject('tintype', picture))
})
