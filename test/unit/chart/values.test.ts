import { cpSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { RunnerPoolSpec } from '../../../crds/src/kinds/runner-pool.ts'
import { chartDirectory, find, helm, podsOf, type Rendered, refusal, renderChart } from '../../support/sources/chart.ts'

/** Values that the schema rejects, with its complaint about each. Helm names all of them at once. */
const rejected: [value: string, setting: unknown, complaint: string][] = [
  ['replicas', 3, "'': additional properties 'replicas' not allowed"],
  ['gateway.replica', 3, "'/gateway': additional properties 'replica' not allowed"],
  ['store', 'ceph', "'/store': value must be one of 'minio', 'versitygw'"],
  ['platform', 'nomad', "'/platform': value must be one of 'kubernetes', 'openshift'"],
  ['httpRoute.parentRefs', [{ port: 443 }], "'/httpRoute/parentRefs/0': missing property 'name'"],
  ['httpRoute.requestTimeout', '30', "'/httpRoute/requestTimeout': '30' does not match pattern"],
  ['sandbox.mode', 'on', "'/sandbox/mode': value must be one of 'auto', 'required', 'off'"],
  ['plans', { 'Team Gold': { monthlyQuota: 1 } }, "'/plans': additional properties 'Team Gold' not allowed"],
  ['capture.thumbnailWidth', 8, "'/capture/thumbnailWidth': minimum: got 8, want 16"],
  ['runner.maxPods', 0, "'/runner/maxPods': minimum: got 0, want 1"],
  ['runner.minIdle', '1', "'/runner/minIdle': got string, want integer"],
  ['runner.egress.allowedCidrs', ['10.0.0.1'], "'/runner/egress/allowedCidrs/0': '10.0.0.1' does not match pattern"],
  ['runner.egress.allowAll', true, "'/runner/egress': additional properties 'allowAll' not allowed"],
  ['runner.video.enabled', 'no', "'/runner/video/enabled': got string, want boolean"],
  ['runner.video.capturesPerPod', 5, "'/runner/video': additional properties 'capturesPerPod' not allowed"],
  ['gateway.bodyBytes', 0, "'/gateway/bodyBytes': minimum: got 0, want 3.3554432"],
  ['gateway.linkCacheBytes', -1, "'/gateway/linkCacheBytes': minimum: got -1, want 0"],
  ['gateway.maxSchedulesPerAccount', 0, "'/gateway/maxSchedulesPerAccount': minimum: got 0, want 1"],
  ['gateway.replicas', 0, "'/gateway/replicas': minimum: got 0, want 1"],
  ['gateway.extraEnv', [{ value: 'x' }], "'/gateway/extraEnv/0': missing property 'name'"],
  ['gateway.trustedProxies', ['10.0.0.1'], "'/gateway/trustedProxies/0': '10.0.0.1' does not match pattern"],
  ['gateway.publicUrl', 'shots.example.com', "'/gateway/publicUrl': 'shots.example.com' does not match pattern"],
  ['operator.replicas', 0, "'/operator/replicas': minimum: got 0, want 1"],
  ['webhooks.maxPostsPerAccount', 257, "'/webhooks/maxPostsPerAccount': maximum: got 257, want 256"],
]
t.test('chart rejects values that do not fit its schema, each with a complaint of its own', async (t) => {
  const output = await refusal(Object.fromEntries(rejected))
  for (const [value, , complaint] of rejected) t.ok(output.includes(`- at ${complaint}`), `${value}: ${complaint}`)
})

const external = (more: object) => ({ 'minio.enabled': false, 'storage.external': { existingSecret: 'both', ...more } })
const noSubdomain = /pathStyle is false, but the IP address (192.0.2.7|2001:db8::10) has no subdomain/
const noOrigin = /storage.external.endpoint.*does not match pattern/s
for (const [name, settings, words] of [
  ['an HTTPRoute without a Gateway', { 'httpRoute.enabled': true }, /httpRoute.parentRefs is empty: set it to the Gateway/],
  ['an unknown plan', { 'bootstrap.plan': 'gold' }, /bootstrap\.plan is gold, .* basic, free, growth, scale/],
  [
    'more idle runners that record videos than runners',
    { 'runner.video.minIdle': 5 },
    /runner.video.minIdle is 5 and runner.video.maxPods is 4: raise runner.video.maxPods, or lower runner.video.minIdle/,
  ],
  ['no registry', { 'image.registry': '' }, /npm run images -- --push <registry>/],
  ['two stores', { 'storage.external.endpoint': 'https://s3.example.com' }, /set minio.enabled to false/],
  ['no store', { 'minio.enabled': false }, /set storage.external.endpoint/],
  [
    'an external store without keys',
    { 'minio.enabled': false, 'storage.external.endpoint': 'https://s3.example.com' },
    /needs existingSecret, or accessKey and secretKey/,
  ],
  ['the bucket in the host name of an IPv4 address', external({ endpoint: 'http://192.0.2.7:9000', pathStyle: false }), noSubdomain],
  ['the bucket in the host name of an IPv6 address', external({ endpoint: 'http://[2001:db8::10]', pathStyle: false }), noSubdomain],
  ['an endpoint without a scheme', external({ endpoint: 's3.example.com' }), noOrigin],
  ['an endpoint with a path', external({ endpoint: 'https://s3.example.com/tintype' }), noOrigin],
  ['an endpoint with keys', external({ endpoint: 'https://key:secret@s3.example.com' }), noOrigin],
  ['an endpoint with an IPv6 address without brackets', external({ endpoint: 'http://2001:db8::10:9000' }), noOrigin],
  ['TLS without a host', { 'ingress.enabled': true, 'ingress.tls.enabled': true }, /ingress.tls needs ingress.host/],
] as const) {
  t.test(`chart rejects ${name}`, async (t) => t.match(await refusal(settings), words))
}

t.test('chart rejects a Kubernetes older than 1.32', async (t) => {
  await t.rejects(renderChart({}, ['--kube-version', '1.31.9']), { message: /./, output: /requires kubeVersion: >=1.32.0-0/ })
  t.ok(await renderChart({}, ['--kube-version', '1.32.1-gke.100']))
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
  t.equal(copy?.slice(copy.indexOf('\n') + 1), values, 'npm run generate copies values.yaml to files/values.yaml')
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
