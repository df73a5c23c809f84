import t from 'tap'
import { find, type PodSpec, podsOf, type Rendered, renderChart } from '../../support/sources/chart.ts'

// The bundled store: MinIO by default, or versitygw. Programs, Job and policies use the chosen one.

const specsOf = (objects: readonly Rendered[]): Map<string, PodSpec> => new Map(podsOf(objects).map(({ name, spec }) => [name, spec]))
const versitygw = await renderChart({ store: 'versitygw', 'retention.recordDays': 500 })
const minio = await renderChart()

const valueIn = (spec: PodSpec | undefined, variable: string): unknown =>
  spec?.containers.flatMap(({ env = [] }) => env).find(({ name }) => name === variable)?.value

for (const [store, objects] of [
  ['minio', minio],
  ['versitygw', versitygw],
] as const) {
  t.test(`chart with ${store} gives all programs its endpoint, and the Job its kind`, async (t) => {
    const specs = specsOf(objects)
    for (const name of ['Deployment tintype-operator', 'Deployment tintype-api-gateway', 'Job tintype-storage-setup-1'])
      t.equal(valueIn(specs.get(name), 'TINTYPE_STORAGE_ENDPOINT'), `http://tintype-${store}:9000`, name)
    t.equal(valueIn(specs.get('Job tintype-storage-setup-1'), 'TINTYPE_STORAGE_KIND'), store)
    const { spec } = find<{ spec: { selector: object } }>(objects, 'Service', `tintype-${store}`)
    t.match(spec.selector, { 'app.kubernetes.io/component': store })
    t.match(find<{ spec: object }>(objects, 'NetworkPolicy', `tintype-${store}`).spec, {
      podSelector: { matchLabels: { 'app.kubernetes.io/component': store } },
    })
  })

  t.test(`chart with ${store} has its own volume and root user, which stay after an uninstall`, async (t) => {
    for (const [kind, name] of [
      ['PersistentVolumeClaim', `tintype-${store}`],
      ['Secret', `tintype-${store}-root`],
    ] as const)
      t.equal(find(objects, kind, name).metadata.annotations?.['helm.sh/resource-policy'], 'keep', name)
    t.strictSame(
      objects.filter(({ metadata }) => metadata.name.includes(store === 'minio' ? 'versitygw' : 'minio')),
      [],
    )
  })
}

t.test('chart with versitygw deletes expired files beside the store, with the days of the release', async (t) => {
  const spec = specsOf(versitygw).get('StatefulSet tintype-versitygw')
  t.strictSame(
    spec?.containers.map(({ name }) => name),
    ['versitygw', 'expiry'],
  )
  t.equal(valueIn(spec, 'TINTYPE_RETENTION_RECORD_DAYS'), '500')
  t.equal(valueIn(spec, 'TINTYPE_STORAGE_BUCKET'), 'tintype')
  t.match(valueIn(spec, 'TINTYPE_PLANS'), /"scale":/)
  const arguments_ = spec?.containers.map(({ args = [] }) => args.at(-1))
  t.strictSame(arguments_, ['/data/files', '/data/files'], 'both use the same directory')
})

t.test('chart lets the programs trust the authority of an external store', async (t) => {
  const external = { 'minio.enabled': false, 'storage.external.endpoint': 'https://s3.example', 'storage.external.existingSecret': 'both' }
  for (const name of ['Deployment tintype-operator', 'Deployment tintype-api-gateway']) {
    const trusting = specsOf(await renderChart({ ...external, 'storage.external.caConfigMap': 'store-ca' })).get(name)
    t.equal(valueIn(trusting, 'NODE_EXTRA_CA_CERTS'), '/etc/tintype/storage-ca/ca.crt', name)
    t.match(trusting?.volumes, [{ name: 'storage-ca', configMap: { name: 'store-ca' } }])
    t.equal(valueIn(specsOf(await renderChart(external)).get(name), 'NODE_EXTRA_CA_CERTS'), undefined, name)
  }
})
