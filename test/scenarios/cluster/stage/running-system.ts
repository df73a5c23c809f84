import { readFile } from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { API_VERSION, toObjectName } from '@tintype/crds/identifiers/names'
import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { ScreenshotRecord } from '@tintype/crds/records/record'
import { cluster, kubectl, kubectlJson, requireKubectl } from '../../../support/cluster/environment.ts'
import { createApiKey } from '../../../support/cluster/keys.ts'
import { NAMESPACE } from '../../../support/cluster/tested-release.ts'
import { eventually } from '../../../support/eventually.ts'
import type { Ends } from '../../../support/processes/own-plane.ts'
import type { LoopOrder, LoopResult } from '../../engine/stage/bare-loop.ts'
import { VIEWPORT } from '../../engine/stage/contenders.ts'
import { openLines } from '../../harness/line-program.ts'
import { bodyOf, type Reply, type Request, send } from '../../plane/stage/requests.ts'

/** A client with its own keep-alive connections, like a latency-sensitive program. */
export class Api {
  readonly #agent: http.Agent
  readonly #key: string
  readonly #url: string

  constructor({ key = cluster.apiKey, connections = 1, url = cluster.url }: { key?: string; connections?: number; url?: string } = {}) {
    this.#key = key
    this.#url = url
    this.#agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  }

  /** Requests a path of the API. */
  request(path: string, request: Request = {}): Promise<Reply> {
    return send(new URL(path, this.#url).href, { key: this.#key, agent: this.#agent, ...request })
  }

  /** Requests a capture. Resolves at the 202. */
  async create(url: string): Promise<{ id: string; at: number }> {
    const reply = await this.request('/api/v1/screenshots', { method: 'POST', body: { url } })
    return { id: bodyOf<{ id: string }>(reply, 202).id, at: reply.at }
  }

  /** Waits until it has finished. @throws when it failed */
  async completed(id: string): Promise<{ record: ScreenshotRecord; at: number }> {
    for (;;) {
      const reply = await this.request(`/api/v1/screenshots/${id}?wait=25`)
      const record = bodyOf<ScreenshotRecord>(reply, 200)
      if (record.status === 'failed') throw new Error(`${id} failed: ${record.error?.code} ${record.error?.message}`)
      if (record.status === 'completed') return { record, at: reply.at }
    }
  }

  /** Requests a picture in one request, whose response is the file. */
  async picture(url: string): Promise<void> {
    const { status, text } = await this.request('/api/v1/screenshots', { method: 'POST', body: { url }, headers: { accept: 'image/*' } })
    if (status !== 200) throw new Error(`a picture in one request returned ${status}: ${text.slice(0, 400)}`)
  }

  /** Downloads the file of a completed record. */
  async download({ download_url: url }: Pick<ScreenshotRecord, 'download_url'>): Promise<Buffer> {
    const { pathname, search } = new URL(url ?? '', this.#url)
    const { status, bytes } = await this.request(pathname + search)
    if (status !== 200) throw new Error(`the download returned ${status}`)
    return bytes
  }

  /** Deletes captures, so that the next round starts in the same state. */
  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.request(`/api/v1/screenshots/${id}`, { method: 'DELETE' })
  }
}

/** The objects of finished captures, for the time of each stage. */
export async function readObjects(ids: readonly string[]): Promise<Screenshot[]> {
  const { items } = await kubectlJson<{ items: Screenshot[] }>(['get', 'screenshots'])
  const names = new Set(ids.map(toObjectName))
  return items.filter(({ metadata }) => names.has(metadata.name))
}

/** Creates temporary accounts. Returns their keys. */
export async function createAccounts(ends: Ends, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `bench-${process.pid}-${index + 1}`)
  ends.teardown(() => kubectl(['delete', '--ignore-not-found', ...names.flatMap((name) => [`account/${name}`, `apikey/${name}`])]))
  const keys: string[] = []
  for (const name of names) {
    const account = { apiVersion: API_VERSION, kind: 'Account', metadata: { name }, spec: { plan: 'scale', displayName: 'Benchmark' } }
    await requireKubectl(['apply', '-f', '-'], JSON.stringify(account))
    keys.push(await createApiKey(name, name))
  }
  return keys
}

const IDLE_MILLISECONDS = 600_000
const PATCH_MILLISECONDS = 60_000

/** The default pool of a release. */
const readPool = (namespace = NAMESPACE): Promise<RunnerPool> => kubectlJson<RunnerPool>(['get', 'runnerpool', 'default', '-n', namespace])

/** Waits until nothing is queued or running and the pool has its minimum of idle runners, because others may use the cluster. */
export const waitUntilIdle = (namespace = NAMESPACE): Promise<boolean> =>
  eventually(
    'the pool is idle',
    async () => {
      const { metadata, spec, status = {} } = await readPool(namespace)
      const { idle = 0, busy = 0, queued = 0, observedGeneration } = status
      const isSeen = observedGeneration === metadata.generation
      return isSeen && busy === 0 && queued === 0 && idle >= Math.max(1, spec.minIdle ?? 1)
    },
    IDLE_MILLISECONDS,
  )

/** Gives the default pool of a release another size, until the end of the scenario. */
export async function setPoolSize(ends: Ends, size: { minIdle: number; maxPods: number }, namespace = NAMESPACE): Promise<void> {
  const { minIdle = null, maxPods = null } = (await readPool(namespace)).spec
  // Retries for a minute, so that a short outage of the API server does not leave the pool with another size.
  const patch = (spec: Record<string, number | null>) =>
    eventually(
      'the size of the pool is changed',
      () =>
        requireKubectl(['patch', 'runnerpool', 'default', '-n', namespace, '--type=merge', '-p', JSON.stringify({ spec })]).then(
          () => true,
        ),
      PATCH_MILLISECONDS,
    )
  ends.teardown(() => patch({ minIdle, maxPods }))
  await patch(size)
  await waitUntilIdle(namespace)
}

/** The bare loop in its pod. */
export type BarePod = Awaited<ReturnType<typeof openBarePod>>

/** The name contains the process id, because another run may be active. */
const NAME = `bench-bare-loop-${process.pid}`
const READY_SECONDS = 120
const PROGRAM = path.join(import.meta.dirname, '../../engine/stage/bare-loop.ts')

/** Starts a pod with the resources and the sandbox of the default pool's image, and the loop in it. */
export async function openBarePod(ends: Ends) {
  ends.teardown(() => kubectl(['delete', 'pod', NAME, '--ignore-not-found', '--grace-period=1', '--wait=true']))
  await requireKubectl(['apply', '-f', '-'], JSON.stringify(buildPod(await readPool())))
  await requireKubectl(['wait', `pod/${NAME}`, '--for=condition=Ready', `--timeout=${READY_SECONDS}s`])
  const node = ['node', '--input-type=module-typescript', '--eval', await readFile(PROGRAM, 'utf8')]
  const loop = openLines<LoopOrder, LoopResult>('kubectl', ['-n', NAMESPACE, 'exec', '-i', NAME, '--', ...node], cluster.shell)
  ends.teardown(loop.close)
  /** `run` captures pages once or more often. */
  return { name: NAME, run: (order: Omit<LoopOrder, 'viewport'>) => loop.ask({ ...order, viewport: VIEWPORT }) }
}

/** The pod as the operator builds it for a runner (operator/src/runner/pod.ts), without labels, tokens and probes. */
function buildPod({ spec }: RunnerPool) {
  const { image, imagePullPolicy = 'IfNotPresent', resources, nodeSelector, tolerations } = spec.podTemplate
  const { localhostProfile } = spec.sandbox ?? {}
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: NAME, labels: { 'app.kubernetes.io/name': 'tintype-bench' } },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...(nodeSelector ? { nodeSelector } : {}),
      ...(tolerations ? { tolerations } : {}),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 10_001,
        runAsGroup: 10_001,
        fsGroup: 10_001,
        seccompProfile: localhostProfile === undefined ? { type: 'RuntimeDefault' } : { type: 'Localhost', localhostProfile },
      },
      containers: [
        {
          name: 'loop',
          image,
          imagePullPolicy,
          command: ['/usr/bin/tini', '--', 'sleep', 'infinity'],
          env: [{ name: 'BARE_SANDBOX', value: String(localhostProfile !== undefined) }],
          resources,
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
          volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
        },
      ],
      volumes: [{ name: 'tmp', emptyDir: {} }],
    },
  }
}
