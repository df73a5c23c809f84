// A webhook endpoint in the cluster, with a certificate of a CA that the operator is told to trust: the chart's values are changed for the
// test and put back after it.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { helm } from '../cluster/kubectl.ts'
import { certificatePaths } from '../cluster/pki.ts'
import { releaseName, releaseNamespace, repository, sitesNamespace } from '../cluster/state.ts'
import { kubectl, kubectlJson } from './cluster-environment.ts'
import { eventually } from './eventually.ts'
import { createReceiverCertificate } from './https-receiver.ts'
import type { ListedRequest } from './receiver-program.ts'

const NAME = 'receiver'
const HOST = `${NAME}.${sitesNamespace}.svc.cluster.local`
const CA_CONFIG_MAP = 'test-webhook-ca'
const LABELS = { app: NAME }

export interface ClusterReceiver {
  /** `https://receiver.sites.svc.cluster.local:8443` */
  url: string
  /** What has come in since the pod started. */
  received: () => Promise<ListedRequest[]>
}

/** Starts the endpoint and lets the operator reach and trust it, until the test file ends. */
export async function startClusterReceiver(t: Test): Promise<ClusterReceiver> {
  const directory = await mkdtemp(join(tmpdir(), 'tintype-receiver-'))
  const certificate = await createReceiverCertificate(directory, [`DNS:${HOST}`])
  const [program, cert, key, ca] = await Promise.all(
    [
      join(import.meta.dirname, 'receiver-program.ts'),
      certificate.certificate,
      certificate.key,
      certificatePaths(directory, 'ca').certificate,
    ].map((file) => readFile(file, 'utf8')),
  )
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const objects = buildObjects({ program: program!, cert: cert!, key: key!, image: await findNodeImage() })
  await apply(sitesNamespace, objects)
  await apply(releaseNamespace, [configMap(CA_CONFIG_MAP, releaseNamespace, { 'ca.crt': ca! })])
  t.teardown(() => kubectl(['delete', '-n', sitesNamespace, '--wait=false', 'all,configmaps,secrets', '-l', `app=${NAME}`]))
  await trust(t)
  await succeed(['rollout', 'status', '-n', sitesNamespace, `deployment/${NAME}`, '--timeout=60s'])
  const list = `/api/v1/namespaces/${sitesNamespace}/services/${NAME}:list/proxy/`
  return {
    url: `https://${HOST}:8443`,
    received: async () => JSON.parse((await succeed(['get', '--raw', list])).stdout) as ListedRequest[],
  }
}

/** Changes the operator's values; what was there before comes back with the end of the test file. */
async function trust(t: Test): Promise<void> {
  const release = [releaseName, '--namespace', releaseNamespace]
  const before = JSON.parse(await helm(['status', ...release, '--output', 'json'])) as { version: number; info: { description: string } }
  const values = { webhooks: { allowedHosts: [HOST], extraCaConfigMap: CA_CONFIG_MAP } }
  // What the chart has gained since keeps its default.
  const settings = ['--reset-then-reuse-values', '--set-json', `webhooks.allowedHosts=${JSON.stringify(values.webhooks.allowedHosts)}`]
  const chart = join(repository, 'charts/tintype')
  await helm([
    'upgrade',
    ...release.slice(0, 1),
    chart,
    ...release.slice(1),
    ...settings,
    '--set',
    `webhooks.extraCaConfigMap=${CA_CONFIG_MAP}`,
    '--wait',
    '--timeout',
    '120s',
  ])
  t.teardown(async () => {
    await helm(['rollback', releaseName, String(before.version), '--namespace', releaseNamespace, '--wait', '--timeout', '120s'])
    await kubectl(['delete', 'configmap', CA_CONFIG_MAP])
  })
  await eventually('an operator with the new values leads', async () => {
    const { status } = await kubectlJson<{ status: { updatedReplicas?: number; replicas?: number } }>([
      'get',
      'deployment',
      `${releaseName}-operator`,
    ])
    return status.replicas === status.updatedReplicas
  })
}

/** The pages' image has Node in it. */
async function findNodeImage(): Promise<string> {
  const pages = await kubectlJson<{ spec: { template: { spec: { containers: { image: string }[] } } } }>([
    'get',
    '-n',
    sitesNamespace,
    'deployment',
    'pages',
  ])
  return pages.spec.template.spec.containers[0]?.image ?? ''
}

const metadata = (name: string, namespace: string) => ({ name, namespace, labels: LABELS })
const configMap = (name: string, namespace: string, data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: metadata(name, namespace),
  data,
})

function buildObjects({ program, cert, key, image }: Record<'program' | 'cert' | 'key' | 'image', string>): object[] {
  const container = {
    name: NAME,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['node', '/program/receiver.ts'],
    ports: [
      { name: 'https', containerPort: 8443 },
      { name: 'list', containerPort: 8080 },
    ],
    readinessProbe: { httpGet: { path: '/', port: 'list' }, periodSeconds: 1 },
    volumeMounts: [
      { name: 'program', mountPath: '/program' },
      { name: 'tls', mountPath: '/tls' },
    ],
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
  }
  const podSpec = {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 10001,
      runAsGroup: 10001,
      fsGroup: 10001,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [container],
    volumes: [
      { name: 'program', configMap: { name: NAME } },
      { name: 'tls', secret: { secretName: NAME } },
    ],
  }
  return [
    configMap(NAME, sitesNamespace, { 'receiver.ts': program }),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata: metadata(NAME, sitesNamespace),
      stringData: { 'tls.crt': cert, 'tls.key': key },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: metadata(NAME, sitesNamespace),
      spec: { selector: { matchLabels: LABELS }, template: { metadata: { labels: LABELS }, spec: podSpec } },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: metadata(NAME, sitesNamespace),
      spec: {
        selector: LABELS,
        ports: [
          { name: 'https', port: 8443 },
          { name: 'list', port: 8080 },
        ],
      },
    },
  ]
}

const apply = (namespace: string, items: object[]) =>
  succeed(['apply', '-n', namespace, '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))

async function succeed(args: readonly string[], input?: string) {
  const result = await kubectl(args, input)
  if (result.code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${result.stderr}`)
  return result
}
