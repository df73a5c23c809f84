import t from 'tap'
import { find, type PodSpec, podsOf, type Rendered, renderChart } from '../../support/sources/chart.ts'

// The bundled store: MinIO by default, or versitygw. Programs, Job and policies use the chosen one.

const specsOf = (objects: readonly Rendered[]): Map<string, PodSpec> => new Map(podsOf(objects).map(({ name, spec }) => [name, spec]))
const versitygw = await renderChart({ store: 'versitygw', 'retention.recordDays': 500 })
const minio = await renderChart()

const valueIn = (spec: PodSpec | undefined, variable: string): unknown =>
  spec?.containers.flatMap(({ env = [] }) => env).find(({ name }) => name === variable)?.value

const external = (settings: Record<string, unknown>) =>
  renderChart({
    'minio.enabled': false,
    'storage.external.endpoint': 'https://s3.example',
    'storage.external.existingSecret': 'both',
    'storage.region': 'eu-test-1',
    ...settings,
  })
const PROGRAMS = ['Deployment tintype-operator', 'Deployment tintype-api-gateway']

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
  for (const name of PROGRAMS) {
    const trusting = specsOf(await external({ 'storage.external.caConfigMap': 'store-ca' })).get(name)
    t.equal(valueIn(trusting, 'NODE_EXTRA_CA_CERTS'), '/etc/tintype/storage-ca/ca.crt', name)
    t.match(trusting?.volumes, [{ name: 'storage-ca', configMap: { name: 'store-ca' } }])
    t.equal(valueIn(specsOf(await external({})).get(name), 'NODE_EXTRA_CA_CERTS'), undefined, name)
  }
})

t.test('chart gives the programs style and region of an external store', async (t) => {
  const specs = specsOf(await external({ 'storage.external.pathStyle': false }))
  const byDefault = specsOf(await external({}))
  for (const name of PROGRAMS) {
    t.equal(valueIn(specs.get(name), 'TINTYPE_STORAGE_PATH_STYLE'), 'false', name)
    t.equal(valueIn(byDefault.get(name), 'TINTYPE_STORAGE_PATH_STYLE'), undefined, `${name} has its default`)
    t.equal(valueIn(byDefault.get(name), 'TINTYPE_STORAGE_REGION'), 'eu-test-1', name)
  }
  const bundled = specsOf(await renderChart({ 'storage.external.pathStyle': false }))
  t.equal(valueIn(bundled.get(PROGRAMS[0]!), 'TINTYPE_STORAGE_PATH_STYLE'), undefined, 'names in the cluster have no subdomains')
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
    t.equal(valueIn(specsOf(objects).get(PROGRAMS[0]!), 'TINTYPE_STORAGE_ENDPOINT'), endpoint)
  })
}

t.test('chart mounts the keys of an external store, which change without a restart, and not those of the bundled store', async (t) => {
  const external = {
    'minio.enabled': false,
    'storage.external.endpoint': 'https://s3.example.com',
    'storage.external.existingSecret': 'both',
  }
  const rendered = await renderChart({ ...external, 'storage.external.linksExistingSecret': 'links' })
  const volumeOf = (objects: typeof rendered, name: string) =>
    podsOf(objects)
      .find((pod) => pod.name.endsWith(name))
      ?.spec.volumes?.find((volume) => volume.name === 'storage-keys')
  t.match(volumeOf(rendered, 'api-gateway'), { projected: { sources: [{ secret: { name: 'both' } }, { secret: { name: 'links' } }] } })
  t.match(volumeOf(rendered, 'operator'), { projected: { sources: [{ secret: { name: 'both' } }] } })
  t.equal(volumeOf(await renderChart(), 'operator'), undefined)
})
