import { readFileSync } from 'node:fs'
import t from 'tap'
import { loadConfig as loadGatewayConfig } from '../../../api-gateway/src/config.ts'
import { RunnerPoolSpec } from '../../../crds/src/kinds/runner-pool.ts'
import { DEFAULT_OPTION_POLICY, OptionPolicyText } from '../../../crds/src/options/policy.ts'
import { DEFAULT_PLANS, PlansText } from '../../../crds/src/usage/plans.ts'
import { policyHash } from '../../../operator/src/controllers/guard/controller.ts'
import { loadConfig as loadOperatorConfig } from '../../../operator/src/runtime/config.ts'
import { readMinioSettings } from '../../cluster/programs/minio.ts'
import { environmentOf, find, podsOf, type Rendered, renderChart, renderWithNotes } from '../../support/sources/chart.ts'

// The settings that the chart passes to the programs, parsed with the code of the programs.

const OPERATOR = 'Deployment tintype-operator'
const GATEWAY = 'Deployment tintype-api-gateway'
const byDefault = await renderChart()
const objects = await renderChart({
  logLevel: 'warn',
  platform: 'openshift',
  'gateway.publicUrl': 'https://shots.example.com',
  'gateway.bodyBytes': 67_108_864,
  'gateway.maxDownloads': 128,
  'gateway.trustedProxies': ['10.1.0.0/16', 'fd00::/8'],
  'gateway.maxSchedulesPerAccount': 70,
  'gateway.linkCacheBytes': 1_073_741_824,
  'console.enabled': false,
  'bootstrap.plan': 'team-gold',
  'plans.team-gold': { monthlyQuota: 7 },
  'plans.free': null,
  'capture.allowedOptions.scripts': false,
  'seccompInstaller.enabled': true,
  'webhooks.maxPostsPerAccount': 16,
  'webhooks.retryDelaysMilliseconds': [5_000, 300_000],
  'webhooks.allowedHosts': ['*.hooks.example'],
  'capture.maxFileBytes': 1_073_741_824,
  'capture.thumbnailWidth': 320,
  'runner.egress': { allowedHosts: ['*.sites'], allowedCidrs: ['10.1.0.0/16'], deniedCidrs: ['203.0.113.0/24'], allowedPorts: [81, 90] },
})

/** The environment of a program, with placeholders for values from Secrets and the pod. */
const settingsOf = (rendered: readonly Rendered[], pod: string): Record<string, string> =>
  Object.fromEntries(Object.entries(environmentOf(rendered, pod)).map(([name, value = 'from elsewhere']) => [name, value]))

t.test('operator accepts the environment that the chart sets', async (t) => {
  t.match(loadOperatorConfig(settingsOf(objects, OPERATOR)), {
    release: 'tintype',
    logLevel: 'warn',
    platform: 'openshift',
    publicUrl: 'https://shots.example.com',
    bootstrap: { enabled: true, plan: 'team-gold' },
    maxFileBytes: 1_073_741_824,
    storage: { endpoint: 'http://tintype-minio:9000', bucket: 'tintype', region: 'us-east-1' },
    admissionPolicy: { name: 'tintype-runner-status' },
    webhook: {
      maxPostsPerAccount: 16,
      retryDelaysMilliseconds: [5_000, 300_000],
      allowedHosts: ['*.hooks.example'],
      allowedCidrs: [],
      timeoutMilliseconds: 5_000,
    },
  })
})

t.test('gateway accepts the environment that the chart sets', async (t) => {
  t.match(loadGatewayConfig(settingsOf(objects, GATEWAY)), {
    publicUrl: 'https://shots.example.com',
    port: 8080,
    bodyBytes: 67_108_864,
    maxDownloads: 128,
    trustedProxies: ['10.1.0.0/16', 'fd00::/8'],
    maxSchedules: 70,
    thumbnailWidth: 320,
    linkCacheBytes: 1_073_741_824,
    console: { isEnabled: false },
    storage: { endpoint: 'http://tintype-minio:9000', bucket: 'tintype', region: 'us-east-1' },
    egress: { allowedHosts: ['*.sites'], allowedCidrs: ['10.1.0.0/16'], deniedCidrs: ['203.0.113.0/24'], allowedPorts: [81, 90] },
  })
})

const external = {
  ...{ 'minio.enabled': false, 'storage.region': 'eu-test-1' },
  ...{ 'storage.external.endpoint': 'https://s3.example.com', 'storage.external.existingSecret': 'both' },
}
const inHostName = { 'storage.external.pathStyle': false }
const stored = { endpoint: 'https://s3.example.com', region: 'eu-test-1', pathStyle: true }
for (const [store, settings, expected] of [
  ['an external store', external, stored],
  ['an external store with the bucket in the host name', { ...external, ...inHostName }, { ...stored, pathStyle: false }],
  ['the bundled store, whose name has no subdomains', inHostName, { endpoint: 'http://tintype-minio:9000', pathStyle: true }],
] as const) {
  t.test(`programs accept the settings of ${store}`, async (t) => {
    const rendered = await renderChart(settings)
    t.match(loadOperatorConfig(settingsOf(rendered, OPERATOR)).storage, expected)
    t.match(loadGatewayConfig(settingsOf(rendered, GATEWAY)).storage, expected)
  })
}

t.test('programs know every variable that the chart sets', async (t) => {
  for (const [program, config] of [
    [OPERATOR, 'operator/src/runtime/config.ts'],
    [GATEWAY, 'api-gateway/src/config.ts'],
  ] as const) {
    const files = [config, 'crds/src/runtime/settings.ts']
    const source = files.map((file) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')).join()
    const unknown = Object.keys(environmentOf(objects, program)).filter((name) => !source.includes(`${name}:`))
    t.strictSame(unknown, [], program)
  }
})

t.test('operator expects exactly the policies of the chart', async (t) => {
  const { admissionPolicy, trustedSpecPolicy, trustedStatusPolicy } = loadOperatorConfig(settingsOf(objects, OPERATOR))
  for (const { name, hash } of [admissionPolicy, trustedSpecPolicy, trustedStatusPolicy])
    t.equal(hash, policyHash(find<Parameters<typeof policyHash>[0]>(objects, 'ValidatingAdmissionPolicy', name)), name)
})

t.test('the chart passes the same allowed options to gateway and operator', async (t) => {
  const policyOf = (rendered: readonly Rendered[], program: string) =>
    OptionPolicyText.parse(environmentOf(rendered, program).TINTYPE_OPTION_POLICY)
  for (const program of [GATEWAY, OPERATOR]) {
    t.strictSame(policyOf(byDefault, program), DEFAULT_OPTION_POLICY)
    t.strictSame(policyOf(objects, program), { ...DEFAULT_OPTION_POLICY, scripts: false })
  }
})

const plansOf = (program: string, rendered = byDefault) => PlansText.parse(environmentOf(rendered, program).TINTYPE_PLANS)

// The limits of each plan with the default values of the chart (spec 8).
t.test('spec 8: plan Scale has 50,000 per month and 150 requests per minute, beyond $0.75 per 1,000', async (t) => {
  t.match(plansOf(GATEWAY).scale, { monthlyQuota: 50_000, ratePerMinute: 150, overagePricePer1000: 0.75 })
})

t.test('the chart passes the built-in plans to gateway and operator', async (t) => {
  // An absent price and an undefined one mean the same.
  const known = JSON.stringify(DEFAULT_PLANS)
  for (const program of [GATEWAY, OPERATOR]) t.same(JSON.parse(JSON.stringify(plansOf(program))), JSON.parse(known))
})

t.test('the chart accepts any plan name, adds it to the default plans, and removes a default plan that is null', async (t) => {
  for (const program of [GATEWAY, OPERATOR]) {
    const plans = plansOf(program, objects)
    t.strictSame(Object.keys(plans).sort(), ['basic', 'growth', 'scale', 'team-gold'])
    t.equal(plans['team-gold']?.monthlyQuota, 7)
  }
})

// Links in responses and events start with the public URL. It defaults to the URL of the ingress or of the route.
const ingress = { 'ingress.enabled': true, 'ingress.host': 'shots.example.com' }
const withTls = { ...ingress, 'ingress.tls.enabled': true }
const routeOnly = { 'httpRoute.enabled': true, 'httpRoute.parentRefs': [{ name: 'public' }] }
const route = { ...routeOnly, 'httpRoute.hostnames': ['*.example.net', 'shots.example.net'] }
for (const [from, settings, url] of [
  ['an ingress with TLS', withTls, 'https://shots.example.com'],
  ['an ingress without TLS', ingress, 'http://shots.example.com'],
  ['a public URL beside an ingress', { ...withTls, 'gateway.publicUrl': 'https://a.example.com/shots' }, 'https://a.example.com/shots'],
  ['an ingress without a host', { 'ingress.enabled': true }, ''],
  ['the host of a disabled ingress', { 'ingress.host': 'shots.example.com' }, ''],
  ['the first host name of an HTTPRoute that is not a wildcard', route, 'https://shots.example.net'],
  ['an HTTPRoute without TLS', { ...route, 'httpRoute.scheme': 'http' }, 'http://shots.example.net'],
  ['an HTTPRoute without host names', routeOnly, ''],
  ['an ingress beside an HTTPRoute', { ...route, ...ingress }, 'http://shots.example.com'],
  ['nothing', {}, ''],
] as const) {
  t.test(`chart derives the public URL for gateway and operator from ${from}`, async (t) => {
    const { objects, notes } = await renderWithNotes(settings)
    for (const program of [GATEWAY, OPERATOR]) t.equal(environmentOf(objects, program).TINTYPE_PUBLIC_URL, url, program)
    t.match(notes, `curl -fsS ${url || 'http://127.0.0.1:8080'}/api/v1/screenshots`)
  })
}

t.test('chart mounts the link key only in gateways, lets them start without it, and tells them its file', async (t) => {
  const mounted = podsOf(byDefault).flatMap(({ name, spec }) =>
    (spec.volumes ?? []).filter((volume) => JSON.stringify(volume).includes('tintype-link-key')).map((volume) => ({ name, volume })),
  )
  t.match(mounted, [{ name: /api-gateway/, volume: { secret: { secretName: 'tintype-link-key', optional: true } } }])
  t.equal(mounted.length, 1)
  t.equal(environmentOf(byDefault, GATEWAY).TINTYPE_LINK_KEY_FILE, '/etc/tintype/link-key/key.json')
})

const everyField = {
  'runner.egress': {
    ...{ allowedHosts: ['*.sites'], allowedCidrs: ['10.0.0.0/8'], deniedCidrs: ['203.0.113.0/24'], allowedPorts: [81] },
    ...{ upstreamProxy: 'http://proxy:3128', extraCaBundle: 'PEM' },
  },
  'runner.nodeSelector': { disk: 'ssd' },
  'runner.topologySpreadConstraints': [{ topologyKey: 'topology.kubernetes.io/zone', maxSkew: 2 }],
  'runner.tolerations': [{ key: 'capture', operator: 'Exists', effect: 'NoSchedule' }],
  'runner.runtimeClassName': 'gvisor',
  'runner.priorityClassName': 'low',
  'image.pullSecrets': [{ name: 'registry' }],
  'sandbox.mode': false,
  'sandbox.localhostProfile': 'profiles/own.json',
}
for (const [name, settings, sandbox] of [
  ['by default', {}, { mode: 'auto' }],
  ['with an unquoted off, which YAML reads as false', { 'sandbox.mode': false }, { mode: 'off' }],
  ['with all fields of a pool', everyField, { mode: 'off', localhostProfile: 'profiles/own.json' }],
] as const) {
  t.test(`chart renders a valid RunnerPool ${name}`, async (t) => {
    const { spec } = find<{ spec: RunnerPoolSpec }>(await renderChart(settings), 'RunnerPool', 'default')
    t.strictSame(RunnerPoolSpec.parse(spec), spec, 'no field is unknown')
    t.strictSame(spec.sandbox, sandbox)
  })
}

t.test('chart gives MinIO the same settings as the servers of integration tests', async (t) => {
  const settings = await readMinioSettings()
  t.match(environmentOf(objects, 'StatefulSet tintype-minio'), settings)
  t.match(settings, { MINIO_API_CORS_ALLOW_ORIGIN: 'none', MINIO_BROWSER: 'off', MINIO_PROMETHEUS_AUTH_TYPE: 'jwt' })
})

t.test('chart uses the seccomp profile that it installs', async (t) => {
  const { spec } = find<{ spec: RunnerPoolSpec }>(objects, 'RunnerPool', 'default')
  t.equal(spec.sandbox?.localhostProfile, 'profiles/tintype-chromium.json')
  const installer = podsOf(objects).find(({ name }) => name.startsWith('DaemonSet'))?.spec.containers[0] as
    | { command?: string[] }
    | undefined
  t.equal(installer?.command?.at(-1), 'profiles/tintype-chromium.json')
})
