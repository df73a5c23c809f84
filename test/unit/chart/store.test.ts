import t from 'tap'
import { assertEvery, assertSome } from '../../support/accepts.ts'
import { environmentOf, find, podsOf, type Rendered, renderChart } from '../../support/sources/chart.ts'

// The bundled store: MinIO by default, or versitygw. Programs, Job and policies use the chosen one.

const versitygw = await renderChart({ store: 'versitygw', 'retention.recordDays': 500 })
const minio = await renderChart()

const external = (settings: Record<string, unknown>) =>
  renderChart({
    'minio.enabled': false,
    'storage.external.endpoint': 'https://s3.example',
    'storage.external.existingSecret': 'both',
    ...settings,
  })
const byDefault = await external({})
const changed = await external({
  'storage.external.caConfigMap': 'store-ca',
  'storage.external.linksExistingSecret': 'links',
  'storage.external.uploadsExistingSecret': 'only-put',
})
const PROGRAMS = ['Deployment tintype-operator', 'Deployment tintype-api-gateway'] as const
const SETUP = 'Job tintype-storage-setup-1'

for (const [store, objects] of [
  ['minio', minio],
  ['versitygw', versitygw],
] as const) {
  t.test(`chart with ${store} gives all programs its endpoint, and the Job its kind`, async (t) => {
    for (const name of [...PROGRAMS, SETUP])
      t.equal(environmentOf(objects, name).TINTYPE_STORAGE_ENDPOINT, `http://tintype-${store}:9000`, name)
    t.equal(environmentOf(objects, SETUP).TINTYPE_STORAGE_KIND, store)
    const { spec } = find<{ spec: { selector: object } }>(objects, 'Service', `tintype-${store}`)
    t.match(spec.selector, { 'app.kubernetes.io/component': store })
    t.match(find<{ spec: object }>(objects, 'NetworkPolicy', `tintype-${store}`).spec, {
      podSelector: { matchLabels: { 'app.kubernetes.io/component': store } },
    })
  })

  t.test(`chart with ${store} has its own volume and passwords, which stay after an uninstall`, async (t) => {
    const kept = objects.filter(({ metadata }) => metadata.annotations?.['helm.sh/resource-policy'] === 'keep')
    const passwords = [`${store}-root`, ...['gateway', 'links', 'operator', 'uploads'].map((user) => `storage-${user}`)]
    t.strictSame(
      new Set(kept.map(({ kind, metadata }) => `${kind} ${metadata.name}`)),
      new Set([`PersistentVolumeClaim tintype-${store}`, ...passwords.map((name) => `Secret tintype-${name}`)]),
    )
    assertEvery(t, objects, ({ metadata }) => !metadata.name.includes(store === 'minio' ? 'versitygw' : 'minio'))
  })
}

t.test('chart with versitygw deletes expired files beside the store, with the days of the release', async (t) => {
  const containers = podsOf(versitygw).find(({ name }) => name === 'StatefulSet tintype-versitygw')?.spec.containers ?? []
  t.strictSame(
    containers.map(({ name, args = [] }) => [name, args.at(-1)]),
    [
      ['versitygw', '/data/files'],
      ['expiry', '/data/files'],
    ],
    'both use the same directory',
  )
  const settings = Object.fromEntries(containers.flatMap(({ env = [] }) => env).map(({ name, value }) => [name, value]))
  t.match(settings, { TINTYPE_RETENTION_RECORD_DAYS: '500', TINTYPE_STORAGE_BUCKET: 'tintype', TINTYPE_PLANS: /"scale":/ })
})

t.test('chart lets the programs trust the authority of an external store', async (t) => {
  for (const name of PROGRAMS) {
    t.equal(environmentOf(changed, name).NODE_EXTRA_CA_CERTS, '/etc/tintype/storage-ca/ca.crt', name)
    const volumes = podsOf(changed).find((each) => each.name === name)?.spec.volumes
    t.match(
      volumes?.filter((volume) => volume.name === 'storage-ca'),
      [{ configMap: { name: 'store-ca' } }],
    )
    t.equal(environmentOf(byDefault, name).NODE_EXTRA_CA_CERTS, undefined, name)
  }
})

interface Egress {
  spec: { egress: { ports?: { port: number }[]; to?: { ipBlock?: { cidr: string } }[] }[] }
}

for (const [endpoint, port] of [
  ['http://[2001:db8::10]:9000', 9000],
  ['https://[2001:db8::10]', 443],
  ['http://[2001:db8::10]', 80],
] as const) {
  t.test(`chart opens egress to a store at ${endpoint}`, async (t) => {
    const objects = await external({ 'storage.external.endpoint': endpoint, 'storage.external.cidrs': ['2001:db8::10/128'] })
    for (const name of ['operator', 'api-gateway', 'capture-runner']) {
      const { egress } = find<Egress>(objects, 'NetworkPolicy', `tintype-${name}`).spec
      const rule = egress.find(({ to }) => to?.[0]?.ipBlock?.cidr === '2001:db8::10/128')
      t.strictSame(rule?.ports, [{ protocol: 'TCP', port }], name)
    }
    t.equal(environmentOf(objects, PROGRAMS[0]).TINTYPE_STORAGE_ENDPOINT, endpoint)
  })
}

t.test('chart mounts the keys of an external store, which change without a restart, and not those of the bundled store', async (t) => {
  const volumeOf = (objects: readonly Rendered[], name: string) =>
    podsOf(objects)
      .find((pod) => pod.name.endsWith(name))
      ?.spec.volumes?.find((volume) => volume.name === 'storage-keys')
  t.match(volumeOf(changed, 'api-gateway'), { projected: { sources: [{ secret: { name: 'both' } }, { secret: { name: 'links' } }] } })
  t.match(volumeOf(changed, 'operator'), { projected: { sources: [{ secret: { name: 'both' } }] } })
  t.equal(volumeOf(minio, 'operator'), undefined)
})

t.test('chart uses an external store instead of MinIO, each program with its own Secret', async (t) => {
  const rendered = await renderChart({
    'minio.enabled': false,
    'storage.external': { endpoint: 'https://s3.example.com:8443', existingSecret: 'both', gatewayExistingSecret: 'less' },
  })
  assertEvery(t, rendered, ({ metadata }) => !/minio|storage/.test(metadata.name))
  const secretOf = (name: string) => JSON.stringify(podsOf(rendered).find((pod) => pod.name === name)?.spec.containers[0]?.env)
  t.match(secretOf('Deployment tintype-operator'), /"name":"both","key":"secret-key"/)
  t.match(secretOf('Deployment tintype-api-gateway'), /"name":"less","key":"secret-key"/)
  const { spec } = find<{ spec: { egress: { ports: { port: number }[] }[] } }>(rendered, 'NetworkPolicy', 'tintype-api-gateway')
  assertSome(t, spec.egress, ({ ports }) => ports.some(({ port }) => port === 8443), 'egress to the store is open')
})

t.test('chart gives the root password of MinIO only to MinIO and its setup', async (t) => {
  const holders = podsOf(minio).filter(({ spec }) => JSON.stringify(spec).includes('minio-root'))
  t.strictSame(holders.map(({ name }) => name).sort(), ['Job tintype-storage-setup-1', 'StatefulSet tintype-minio'])
})

t.test('chart signs uploads and links with separate keys, and with the programs’ keys where an external store has one key', async (t) => {
  const variables = (objects: readonly Rendered[]) => {
    const env = podsOf(objects).flatMap(({ name, spec }) => (name.startsWith('Deployment') ? (spec.containers[0]?.env ?? []) : []))
    return JSON.stringify(env.filter(({ name }) => /UPLOADS|LINKS/.test(name)))
  }
  t.match(variables(minio), /tintype-storage-links.*tintype-storage-uploads/)
  t.equal(variables(byDefault), '[]')
  t.match(variables(changed), /only-put/)
})
