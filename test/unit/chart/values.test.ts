import { cpSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { RunnerPoolSpec } from '../../../crds/src/kinds/runner-pool.ts'
import { chartDirectory, find, helm, podsOf, type Rendered, renderChart } from '../../support/sources/chart.ts'

const wrong: { name: string; settings: Record<string, unknown>; words: RegExp }[] = [
  { name: 'an unknown value', settings: { replicas: 3 }, words: /additional properties 'replicas' not allowed/ },
  { name: 'a misspelt value', settings: { 'gateway.replica': 3 }, words: /additional properties 'replica' not allowed/ },
  { name: 'an unknown store', settings: { store: 'ceph' }, words: /store.*must be one of 'minio', 'versitygw'/s },
  { name: 'an unknown platform', settings: { platform: 'nomad' }, words: /platform.*must be one of 'kubernetes', 'openshift'/s },
  {
    name: 'an HTTPRoute without a Gateway',
    settings: { 'httpRoute.enabled': true },
    words: /httpRoute.parentRefs is empty: set it to the Gateway/,
  },
  { name: 'a Gateway without a name', settings: { 'httpRoute.parentRefs': [{ port: 443 }] }, words: /missing property 'name'/ },
  { name: 'a timeout without a unit', settings: { 'httpRoute.requestTimeout': '30' }, words: /requestTimeout.*does not match pattern/s },
  { name: 'an unknown sandbox mode', settings: { 'sandbox.mode': 'on' }, words: /must be one of 'auto', 'required', 'off'/ },
  {
    name: 'an unknown plan',
    settings: { 'bootstrap.plan': 'gold' },
    words: /bootstrap\.plan is gold, .* basic, free, growth, scale/,
  },
  { name: 'a plan whose name is no DNS label', settings: { plans: { 'Team Gold': { monthlyQuota: 1 } } }, words: /Team Gold/ },
  { name: 'a thumbnail that is too small', settings: { 'capture.thumbnailWidth': 8 }, words: /thumbnailWidth/ },
  { name: 'a pool without pods', settings: { 'runner.maxPods': 0 }, words: /minimum: got 0, want 1/ },
  {
    name: 'fewer bytes of bodies than two accounts need',
    settings: { 'gateway.bodyBytes': 0 },
    words: /gateway.bodyBytes.*minimum: got 0, want 3.3554432/s,
  },
  {
    name: 'a negative cache of links',
    settings: { 'gateway.linkCacheBytes': -1 },
    words: /gateway.linkCacheBytes.*minimum: got -1, want 0/s,
  },
  {
    name: 'more posts of an account than posts',
    settings: { 'webhooks.maxPostsPerAccount': 257 },
    words: /webhooks.maxPostsPerAccount.*maximum: got 257, want 256/s,
  },
  {
    name: 'no schedules',
    settings: { 'gateway.maxSchedulesPerAccount': 0 },
    words: /gateway.maxSchedulesPerAccount.*minimum: got 0, want 1/s,
  },
  { name: 'a gateway without replicas', settings: { 'gateway.replicas': 0 }, words: /gateway.replicas.*minimum: got 0, want 1/s },
  { name: 'an operator without replicas', settings: { 'operator.replicas': 0 }, words: /operator.replicas.*minimum: got 0, want 1/s },
  {
    name: 'more idle runners than runners',
    settings: { 'runner.minIdle': 20 },
    words: /runner.minIdle is 20 and runner.maxPods is 10: raise runner.maxPods, or lower runner.minIdle/,
  },
  {
    name: 'more idle runners that record videos than runners',
    settings: { 'runner.video.minIdle': 5 },
    words: /runner.video.minIdle is 5 and runner.video.maxPods is 4: raise runner.video.maxPods, or lower runner.video.minIdle/,
  },
  { name: 'videos as text', settings: { 'runner.video.enabled': 'no' }, words: /runner.video.enabled.*got string, want boolean/s },
  {
    name: 'an option of the default pool that videos do not have',
    settings: { 'runner.video.capturesPerPod': 5 },
    words: /additional properties 'capturesPerPod' not allowed/,
  },
  { name: 'a variable without a name', settings: { 'gateway.extraEnv': [{ value: 'x' }] }, words: /missing property 'name'/ },
  { name: 'a number as text', settings: { 'runner.minIdle': '1' }, words: /got string, want integer/ },
  { name: 'a trusted proxy that is not a range', settings: { 'gateway.trustedProxies': ['10.0.0.1'] }, words: /does not match pattern/ },
  { name: 'an invalid range', settings: { 'runner.egress.allowedCidrs': ['10.0.0.1'] }, words: /does not match pattern/ },
  {
    name: 'an unknown egress rule',
    settings: { 'runner.egress.allowAll': true },
    words: /additional properties 'allowAll' not allowed/,
  },
  { name: 'an invalid public URL', settings: { 'gateway.publicUrl': 'shots.example.com' }, words: /does not match pattern/ },
  { name: 'no registry', settings: { 'image.registry': '' }, words: /npm run images -- --push <registry>/ },
  { name: 'two stores', settings: { 'storage.external.endpoint': 'https://s3.example.com' }, words: /set minio.enabled to false/ },
  { name: 'no store', settings: { 'minio.enabled': false }, words: /set storage.external.endpoint/ },
  {
    name: 'an external store without keys',
    settings: { 'minio.enabled': false, 'storage.external.endpoint': 'https://s3.example.com' },
    words: /needs existingSecret, or accessKey and secretKey/,
  },
  ...['http://192.0.2.7:9000', 'http://[2001:db8::10]'].map((endpoint) => ({
    name: `the bucket in the host name of ${endpoint}`,
    settings: {
      'minio.enabled': false,
      'storage.external': { endpoint, existingSecret: 'both', pathStyle: false },
    },
    words: /pathStyle is false, but the IP address (192.0.2.7|2001:db8::10) has no subdomain/,
  })),
  ...['s3.example.com', 'https://s3.example.com/tintype', 'https://key:secret@s3.example.com', 'http://2001:db8::10:9000'].map(
    (endpoint) => ({
      name: `the endpoint ${endpoint}`,
      settings: { 'minio.enabled': false, 'storage.external': { endpoint, existingSecret: 'both' } },
      words: /storage.external.endpoint.*does not match pattern/s,
    }),
  ),
  {
    name: 'TLS without a host',
    settings: { 'ingress.enabled': true, 'ingress.tls.enabled': true },
    words: /ingress.tls needs ingress.host/,
  },
]
for (const { name, settings, words } of wrong) {
  t.test(`chart rejects ${name}`, async (t) => {
    const output = await renderChart(settings).then(
      () => 'rendered',
      (error: { output?: string }) => error.output ?? String(error),
    )
    t.match(output, words)
  })
}

t.test('chart rejects a Kubernetes older than 1.32', async (t) => {
  await t.rejects(renderChart({}, ['--kube-version', '1.31.9']), { message: /./, output: /requires kubeVersion: >=1.32.0-0/ })
  t.ok(await renderChart({}, ['--kube-version', '1.32.1-gke.100']))
})

t.test('chart passes helm lint --strict', async (t) => {
  t.match(await helm(['lint', '--strict', chartDirectory, '--set', 'image.registry=registry.example']), /0 chart\(s\) failed/)
})

interface Pool {
  spec: { video?: boolean; minIdle: number; maxPods: number; egress?: object; podTemplate: Record<string, unknown> }
}

t.test('chart has a pool that records videos, which takes from the default pool what it does not set', async (t) => {
  const shared = {
    'runner.egress.allowedHosts': ['intranet.example.com'],
    'runner.nodeSelector': { disk: 'ssd' },
    'runner.podLabels': { team: 'web' },
    'runner.tolerations': [{ key: 'captures', operator: 'Exists' }],
    'runner.minIdle': 2,
  }
  const own = { 'runner.video.nodeSelector': { cpu: 'fast' }, 'runner.video.maxPods': 7 }
  const rendered = await renderChart({ ...shared, ...own })
  const pool = find<Pool>(rendered, 'RunnerPool', 'default').spec
  const video = find<Pool>(rendered, 'RunnerPool', 'video').spec
  t.notOk(pool.video)
  t.match(pool.podTemplate, { image: /\/capture-runner:/, nodeSelector: { disk: 'ssd' } })
  t.match(video, { video: true, minIdle: 0, maxPods: 7, egress: { allowedHosts: ['intranet.example.com'] } })
  t.match(video.podTemplate, {
    image: /\/capture-runner-video:/,
    serviceAccountName: pool.podTemplate.serviceAccountName,
    tolerations: pool.podTemplate.tolerations,
    labels: { team: 'web' },
    terminationGracePeriodSeconds: 600,
    resources: { limits: { memory: '2Gi' } },
  })
  t.match(video.podTemplate.nodeSelector, { cpu: 'fast' })
  for (const spec of [pool, video]) t.ok(RunnerPoolSpec.strict().safeParse(spec).success)
})

t.test('chart has no pool that records videos if runner.video.enabled is false', async (t) => {
  const pools = (await renderChart({ 'runner.video.enabled': false })).filter(({ kind }) => kind === 'RunnerPool')
  t.strictSame(
    pools.map(({ metadata }) => metadata.name),
    ['default'],
  )
})

t.test('chart uses an external store instead of MinIO, each program with its own Secret', async (t) => {
  const rendered = await renderChart({
    'minio.enabled': false,
    'storage.external': { endpoint: 'https://s3.example.com:8443', existingSecret: 'both', gatewayExistingSecret: 'less' },
  })
  t.strictSame(
    rendered.filter(({ metadata }) => metadata.name.includes('minio') || metadata.name.includes('storage')),
    [],
  )
  const secretOf = (name: string) => JSON.stringify(podsOf(rendered).find((pod) => pod.name === name)?.spec.containers[0]?.env)
  t.match(secretOf('Deployment tintype-operator'), /"name":"both","key":"secret-key"/)
  t.match(secretOf('Deployment tintype-api-gateway'), /"name":"less","key":"secret-key"/)
  const { spec } = find<{ spec: { egress: { ports: { port: number }[] }[] } }>(rendered, 'NetworkPolicy', 'tintype-api-gateway')
  t.ok(
    spec.egress.some(({ ports }) => ports.some(({ port }) => port === 8443)),
    'egress to the store is open',
  )
})

t.test('chart keeps the volume and the passwords of MinIO when it is uninstalled', async (t) => {
  const rendered = await renderChart()
  const kept = rendered
    .filter(({ metadata }) => metadata.annotations?.['helm.sh/resource-policy'] === 'keep')
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  t.strictSame(kept.sort(), [
    'PersistentVolumeClaim tintype-minio',
    'Secret tintype-minio-root',
    'Secret tintype-storage-gateway',
    'Secret tintype-storage-links',
    'Secret tintype-storage-operator',
    'Secret tintype-storage-uploads',
  ])
})

t.test('chart gives programs a higher priority than runners on request, with one class each if the values name it', async (t) => {
  const classOf = ({ spec }: { spec: { priorityClassName?: string } }) => spec.priorityClassName
  t.strictSame(new Set(podsOf(await renderChart()).map(classOf)), new Set([undefined]))
  const rendered = await renderChart({ 'priorityClass.create': true, 'minio.priorityClassName': 'storage' })
  const classes = Object.fromEntries(podsOf(rendered).map((pod) => [pod.name, classOf(pod)]))
  t.match(classes, {
    'Deployment tintype-operator': 'tintype',
    'Deployment tintype-api-gateway': 'tintype',
    'StatefulSet tintype-minio': 'storage',
  })
  t.match(find(rendered, 'PriorityClass', 'tintype'), { value: 1000 })
})

t.test('chart gives the root password of MinIO only to MinIO and its setup', async (t) => {
  const holders = podsOf(await renderChart()).filter(({ spec }) => JSON.stringify(spec).includes('minio-root'))
  t.strictSame(holders.map(({ name }) => name).sort(), ['Job tintype-storage-setup-1', 'StatefulSet tintype-minio'])
})

t.test('chart prefixes cluster-wide objects with the namespace, except for a release with the name of the chart', async (t) => {
  const rendered = await renderChart({}, ['--namespace', 'staging'])
  const kinds = /^(Cluster|ValidatingAdmission|FlowSchema|PriorityLevel)/
  const global = rendered.filter(({ kind }) => kinds.test(kind)).map(({ metadata }) => metadata.name)
  t.ok(global.length >= 12)
  t.ok(
    global.every((name) => name.startsWith('staging-tintype-')),
    global.join(' '),
  )
})

t.test('chart keeps all names within the limits of Kubernetes, for any release name', async (t) => {
  const rendered = await renderChart({ fullnameOverride: 'a'.repeat(40) }, ['--namespace', 'b'.repeat(63)])
  const tooLong = rendered.filter(
    ({ kind, metadata }) => metadata.name.length > (/^(Cluster|Validating|Network|PodDis|FlowSchema|Priority)/.test(kind) ? 253 : 63),
  )
  t.strictSame(tooLong, [])
})

t.test('chart renders an Ingress with exactly the given annotations', async (t) => {
  const rendered = await renderChart({
    'ingress.enabled': true,
    'ingress.host': 'shots.example.com',
    'ingress.annotations': { 'example.com/own': 'yes' },
  })
  const { metadata, spec } = find<{ spec: object }>(rendered, 'Ingress', 'tintype-api-gateway')
  t.strictSame(metadata.annotations, { 'example.com/own': 'yes' })
  t.match(spec, {
    rules: [{ host: 'shots.example.com', http: { paths: [{ path: '/', backend: { service: { name: 'tintype-api-gateway' } } }] } }],
  })
})

t.test('chart renders an HTTPRoute that ends no held request', async (t) => {
  const parentRefs = [{ name: 'public', namespace: 'gateways', sectionName: 'https' }]
  const settings = { 'httpRoute.enabled': true, 'httpRoute.parentRefs': parentRefs, 'httpRoute.hostnames': ['shots.example.com'] }
  const routeOf = async (more: Record<string, unknown> = {}) =>
    find<{ spec: object }>(await renderChart({ ...settings, ...more }), 'HTTPRoute', 'tintype-api-gateway')
  const rule = {
    matches: [{ path: { type: 'PathPrefix', value: '/' } }],
    timeouts: { request: '0s' },
    backendRefs: [{ name: 'tintype-api-gateway', port: 8080 }],
  }
  t.strictSame((await routeOf()).spec, { parentRefs, hostnames: ['shots.example.com'], rules: [rule] })
  const changed = await routeOf({
    'gateway.service.port': 80,
    'httpRoute.requestTimeout': '',
    'httpRoute.annotations': { 'example.com/own': 'yes' },
  })
  t.match(changed.spec, { rules: [{ timeouts: undefined, backendRefs: [{ port: 80 }] }] })
  t.strictSame(changed.metadata.annotations, { 'example.com/own': 'yes' })
})

t.test('chart publishes a node port only on request', async (t) => {
  const ports = async (settings: Record<string, unknown>) =>
    find<{ spec: { type: string; ports: object[] } }>(await renderChart(settings), 'Service', 'tintype-api-gateway').spec
  t.strictSame((await ports({ 'gateway.service.nodePort': 30_080 })).ports, [{ name: 'http', port: 8080, targetPort: 'http' }])
  t.match(await ports({ 'gateway.service.type': 'NodePort', 'gateway.service.nodePort': 30_080 }), {
    type: 'NodePort',
    ports: [{ nodePort: 30_080 }],
  })
})

t.test('chart contains a copy of its values for releases with older values', async (t) => {
  const [values, copy] = ['values.yaml', 'files/values.yaml'].map((file) => readFileSync(path.join(chartDirectory, file), 'utf8'))
  t.ok(values === copy, 'npm run generate copies values.yaml to files/values.yaml')
})

t.test('chart renders with the values of the previous release, which lack new fields (helm upgrade --reuse-values)', async (t) => {
  const older = path.join(t.testdir(), 'chart')
  cpSync(chartDirectory, older, { recursive: true })
  const values = path.join(chartDirectory, '../../test/chart/releases/values-1230566b.yaml')
  cpSync(values, path.join(older, 'values.yaml'))
  const reused = parseAllDocuments(
    await helm(['template', 'tintype', older, '--namespace', 'tintype', '--set', 'image.registry=registry.example']),
  )
  const objects = reused.flatMap((document) => (document.toJS() as Rendered | null) ?? [])
  const fresh = await renderChart({ 'image.registry': 'registry.example' }, ['--values', values])
  t.strictSame(new Set(objects.map(nameOf)), new Set(fresh.map(nameOf)))
  for (const name of ['tintype-operator', 'tintype-api-gateway']) {
    const [before, after] = [objects, fresh].map((all) =>
      podsOf(all)
        .find((pod) => pod.name === `Deployment ${name}`)
        ?.spec.containers[0]?.env?.map(withoutNulls),
    )
    t.ok((before?.length ?? 0) > 10)
    t.strictSame(before, after, name)
  }
})

/** With `--values`, a null removes the field from the plan. The programs read both the same way. */
const withoutNulls = ({ value, ...rest }: { name: string; value?: string }) => ({
  ...rest,
  ...(value === undefined ? {} : { value: value.replaceAll(/"\w+":null,/g, '') }),
})

const nameOf = ({ kind, metadata }: Rendered): string => `${kind}/${metadata.name}`

t.test('chart signs uploads and links with separate keys, and with the programs’ keys where an external store has one key', async (t) => {
  const external = { 'minio.enabled': false, 'storage.external.endpoint': 'https://s3.example', 'storage.external.existingSecret': 'both' }
  const variables = async (settings: Record<string, unknown>) => {
    const pods = podsOf(await renderChart(settings))
    const env = pods.flatMap(({ name, spec }) => (name.startsWith('Deployment') ? (spec.containers[0]?.env ?? []) : []))
    return JSON.stringify(env.filter(({ name }) => /UPLOADS|LINKS/.test(name)))
  }
  t.match(await variables({}), /tintype-storage-links.*tintype-storage-uploads/)
  t.equal(await variables(external), '[]')
  t.match(await variables({ ...external, 'storage.external.uploadsExistingSecret': 'only-put' }), /only-put/)
})
