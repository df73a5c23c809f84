import { readFileSync } from 'node:fs'
import t from 'tap'
import { loadConfig as loadGatewayConfig } from '../../../api-gateway/src/config.ts'
import { RunnerPoolSpec } from '../../../crds/src/kinds/runner-pool.ts'
import { policyHash } from '../../../operator/src/controllers/guard/decision.ts'
import { loadConfig as loadOperatorConfig } from '../../../operator/src/runtime/config.ts'
import { readMinioSettings } from '../../cluster/programs/minio.ts'
import { find, podsOf, type Rendered, renderChart } from '../../support/sources/chart.ts'

// The settings that the chart passes to the programs, parsed with the code of the programs.

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
  'bootstrap.plan': 'scale',
  'webhooks.maxPostsPerAccount': 16,
  'webhooks.retryDelaysMilliseconds': [5_000, 300_000],
  'webhooks.allowedHosts': ['*.hooks.example'],
  'capture.maxFileBytes': 1_073_741_824,
  'capture.thumbnailWidth': 320,
  'runner.egress': { allowedHosts: ['*.sites'], allowedCidrs: ['10.1.0.0/16'], deniedCidrs: ['203.0.113.0/24'], allowedPorts: [81, 90] },
})

/** The environment of a program's container, with placeholders for values from Secrets and the pod. */
function environmentOf(rendered: readonly Rendered[], deployment: string): Record<string, string> {
  const pod = podsOf(rendered).find(({ name }) => name === `Deployment ${deployment}`)
  const variables = pod?.spec.containers[0]?.env ?? []
  return Object.fromEntries(variables.map(({ name, value }) => [name, value ?? 'from elsewhere']))
}

t.test('operator accepts the environment that the chart sets', async (t) => {
  const config = loadOperatorConfig(environmentOf(objects, 'tintype-operator'))
  t.match(config, {
    release: 'tintype',
    logLevel: 'warn',
    platform: 'openshift',
    publicUrl: 'https://shots.example.com',
    bootstrap: { enabled: true, plan: 'scale' },
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
  const config = loadGatewayConfig(environmentOf(objects, 'tintype-api-gateway'))
  t.match(config, {
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

t.test('programs accept the settings of an external store with the bucket in the host name', async (t) => {
  const external = { endpoint: 'https://s3.example.com', existingSecret: 'both', pathStyle: false }
  const rendered = await renderChart({ 'minio.enabled': false, 'storage.region': 'eu-test-1', 'storage.external': external })
  const expected = { endpoint: 'https://s3.example.com', region: 'eu-test-1', pathStyle: false }
  t.match(loadOperatorConfig(environmentOf(rendered, 'tintype-operator')).storage, expected)
  t.match(loadGatewayConfig(environmentOf(rendered, 'tintype-api-gateway')).storage, expected)
})

t.test('programs know every variable that the chart sets', async (t) => {
  for (const [program, config] of [
    ['operator', 'operator/src/runtime/config.ts'],
    ['api-gateway', 'api-gateway/src/config.ts'],
  ] as const) {
    const files = [config, 'crds/src/runtime/storage-settings.ts']
    const source = files.map((file) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')).join()
    const unknown = Object.keys(environmentOf(objects, `tintype-${program}`)).filter((name) => !source.includes(`${name}:`))
    t.strictSame(unknown, [], program)
  }
})

t.test('operator expects exactly the policies of the chart', async (t) => {
  const { admissionPolicy, trustedSpecPolicy, trustedStatusPolicy } = loadOperatorConfig(environmentOf(objects, 'tintype-operator'))
  for (const { name, hash } of [admissionPolicy, trustedSpecPolicy, trustedStatusPolicy])
    t.equal(hash, policyHash(find<Parameters<typeof policyHash>[0]>(objects, 'ValidatingAdmissionPolicy', name)), name)
})

const pools: Record<string, Record<string, unknown>> = {
  'by default': {},
  'with all fields of a pool': {
    'runner.egress': {
      allowedHosts: ['*.sites'],
      allowedCidrs: ['10.0.0.0/8'],
      deniedCidrs: ['203.0.113.0/24'],
      allowedPorts: [81],
      upstreamProxy: 'http://proxy:3128',
      extraCaBundle: 'PEM',
    },
    'runner.nodeSelector': { disk: 'ssd' },
    'runner.topologySpreadConstraints': [{ topologyKey: 'topology.kubernetes.io/zone', maxSkew: 2 }],
    'runner.tolerations': [{ key: 'capture', operator: 'Exists', effect: 'NoSchedule' }],
    'runner.runtimeClassName': 'gvisor',
    'runner.priorityClassName': 'low',
    'image.pullSecrets': [{ name: 'registry' }],
    'sandbox.mode': false,
    'sandbox.localhostProfile': 'profiles/own.json',
  },
}
for (const [name, settings] of Object.entries(pools)) {
  t.test(`chart renders a valid RunnerPool ${name}`, async (t) => {
    const { spec } = find<{ spec: object }>(await renderChart(settings), 'RunnerPool', 'default')
    t.strictSame(RunnerPoolSpec.parse(spec), spec, 'no field is unknown')
  })
}

t.test('chart accepts an unquoted off, which YAML reads as false, as sandbox mode off', async (t) => {
  const { spec } = find<{ spec: RunnerPoolSpec }>(await renderChart({ 'sandbox.mode': false }), 'RunnerPool', 'default')
  t.strictSame(spec.sandbox, { mode: 'off' })
})

t.test('chart gives MinIO the same settings as the servers of integration tests', async (t) => {
  const pod = podsOf(objects).find(({ name }) => name === 'StatefulSet tintype-minio')
  const variables = Object.fromEntries((pod?.spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value]))
  const settings = await readMinioSettings()
  t.match(variables, settings)
  t.match(settings, { MINIO_API_CORS_ALLOW_ORIGIN: 'none', MINIO_BROWSER: 'off', MINIO_PROMETHEUS_AUTH_TYPE: 'jwt' })
})

t.test('chart uses the seccomp profile that it installs', async (t) => {
  const rendered = await renderChart({ 'seccompInstaller.enabled': true })
  const { spec } = find<{ spec: RunnerPoolSpec }>(rendered, 'RunnerPool', 'default')
  t.equal(spec.sandbox?.localhostProfile, 'profiles/tintype-chromium.json')
  const command = podsOf(rendered).find(({ name }) => name.startsWith('DaemonSet'))?.spec.containers[0] as
    | { command?: string[] }
    | undefined
  t.equal(command?.command?.at(-1), 'profiles/tintype-chromium.json')
})
