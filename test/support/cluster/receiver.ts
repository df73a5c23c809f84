// A webhook endpoint in the cluster. Its certificate is from the authority that `npm start` created and that the operator trusts.

import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { sitesNamespace } from '../../cluster/host/state.ts'
import { createCertificate } from '../../cluster/kubernetes/pki.ts'
import { webhookAuthority } from '../../cluster/release/webhook-authority.ts'
import { eventually } from '../eventually.ts'
import type { ListedRequest } from '../servers/receiver-program.ts'
import { kubectl, requireKubectl } from './environment.ts'
import { run } from './pools.ts'

/** Unique to this process, because test files run concurrently. */
const NAME = `receiver-${run}-${process.pid}`
const HOST = `${NAME}.${sitesNamespace}.svc.cluster.local`
const LABELS = { app: NAME }
const PAGES = ['get', '-n', sitesNamespace, 'deployment', 'pages']

const REACH = `fetch('http://${HOST}:8080/').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))`

export type ClusterReceiver = Awaited<ReturnType<typeof startClusterReceiver>>

/** Starts the endpoint. It ends with the test file. */
export async function startClusterReceiver(t: Pick<Test, 'teardown'>) {
  const certificate = await createCertificate(webhookAuthority, NAME, { user: 'receiver', names: [`DNS:${HOST}`] })
  const files = [join(import.meta.dirname, '../servers/receiver-program.ts'), certificate.certificate, certificate.key]
  const [program = '', cert = '', key = ''] = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  await Promise.all([certificate.certificate, certificate.key].map((file) => rm(file)))
  t.teardown(() => kubectl(['delete', '-n', sitesNamespace, '--wait=false', 'all,configmaps,secrets', '-l', `app=${NAME}`]))
  // The image of the test pages contains Node.
  const image = await requireKubectl([...PAGES, '-o', 'jsonpath={.spec.template.spec.containers[0].image}'])
  const items = buildObjects({ program, cert, key, image })
  await requireKubectl(['apply', '-n', sitesNamespace, '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  await requireKubectl(['rollout', 'status', '-n', sitesNamespace, `deployment/${NAME}`, '--timeout=120s'])
  // kube-proxy updates the rules of the node with a delay. Until then posts to the endpoint fail.
  const reach = ['exec', '-n', sitesNamespace, 'deployment/pages', '--', 'node', '-e', REACH]
  await eventually('the endpoint can be reached', async () => (await kubectl(reach)).code === 0)
  const list = `/api/v1/namespaces/${sitesNamespace}/services/${NAME}:list/proxy/`
  return {
    url: `https://${HOST}:8443`,
    /** Requests since the pod started. */
    received: async () => JSON.parse(await requireKubectl(['get', '--raw', list])) as ListedRequest[],
  }
}

function buildObjects({ program, cert, key, image }: Record<'program' | 'cert' | 'key' | 'image', string>): object[] {
  const metadata = { name: NAME, namespace: sitesNamespace, labels: LABELS }
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
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'receiver.ts': program } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata,
      stringData: { 'tls.crt': cert, 'tls.key': key },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { selector: { matchLabels: LABELS }, template: { metadata: { labels: LABELS }, spec: podSpec } },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
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
