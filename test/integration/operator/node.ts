// A fake node: it does for runner pods what kubelet, scheduler and runner do, on loopback addresses. The runners use the server, keys and
// reports of the real program; only the capture is the test's.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { buildFailure, buildSuccess, type Success } from '../../../capture-runner/src/capture/outcome.ts'
import { CaptureError } from '../../../capture-runner/src/runtime/errors.ts'
import { createOrderKeys, createVerifier } from '../../../capture-runner/src/server/authentication.ts'
import { createReporter } from '../../../capture-runner/src/server/report.ts'
import { Runner } from '../../../capture-runner/src/server/runner.ts'
import { buildServer } from '../../../capture-runner/src/server/server.ts'
import { accessFromToken } from '../../../crds/client/cluster-access.ts'
import { type Pod, pods, serviceAccounts, type TokenRequest } from '../../../crds/client/kinds.ts'
import { isConflict, isNotFound } from '../../../crds/client/kube-error.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Reflector } from '../../../crds/client/reflector.ts'
import { mergePatch, Resource } from '../../../crds/client/resource.ts'
import type { CaptureOrder } from '../../../crds/src/dispatch/dispatch.ts'
import { DISPATCH_AUDIENCE, Label } from '../../../crds/src/identifiers/names.ts'
import { TOKEN_SECONDS } from '../../support/processes/as-in-pod.ts'
import { accessPlane } from '../../support/processes/plane-access.ts'

/** The capture of a test: it stores a file, or fails. */
export type FakeCapture = (order: CaptureOrder, runner: FakeRunner, cancelled: AbortSignal, onPageReady: () => void) => Promise<void>

/** The process of one runner pod. */
export interface FakeRunner {
  pod: string
  uid: string
  ip: string
  /** Every order that it started. */
  orders: CaptureOrder[]
  /** While true, it does not respond and does nothing. */
  freeze: () => void
  thaw: () => void
  /** Called once instead of the server's own handler; false also calls that handler. */
  intercept:
    | ((server: Server, request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => boolean)
    | undefined
  stop: () => Promise<void>
}

/** Stores a text at the upload URL of the order as a runner does. @throws CaptureError */
export async function store(order: CaptureOrder, text: string): Promise<string> {
  const { url, headers } = order.upload
  const answer = await fetch(url, { method: 'PUT', headers, body: text })
  await answer.arrayBuffer()
  if (!answer.ok) throw new CaptureError('STORAGE_FAILED', `the store responded with ${answer.status}`)
  return answer.headers.get('etag') ?? ''
}

/** Status of a pod whose container is running or has ended. */
const withContainer = (state: { running?: object; terminated?: object }) => ({
  containerStatuses: [{ name: 'runner', ready: state.running !== undefined, restartCount: 0, image: 'i', imageID: 'i', state }],
})

/** A node that runs the pods of runners. */
export class FakeNode {
  readonly runners = new Map<string, FakeRunner>()
  /** Every order that any runner started, in order. */
  readonly orders: { pod: string; order: CaptureOrder }[] = []
  capture: FakeCapture = async () => {}
  /** What its runners find besides the picture. */
  findings: (order: CaptureOrder) => Partial<Success['findings']> = () => ({})
  /** Stores a capture of its runners. Returns the etag. */
  store: typeof store = store
  /** A lost node does not execute deletions: only a forced deletion removes its pods from the API. */
  isLost = false
  readonly #admin: KubeHttp
  readonly #kubeconfigPath: string
  readonly #port: number
  readonly #network: string
  readonly #pods: Reflector<Pod>
  readonly #client: Resource<Pod>
  readonly #connections: KubeHttp[] = []
  #directory = ''
  #count = 0
  #isStopped = false

  /** @param options.network first half of its runners' addresses in 127.0.0.0/8: two nodes on one machine need two */
  constructor({
    admin,
    kubeconfigPath,
    port,
    network = '127.1',
  }: { admin: KubeHttp; kubeconfigPath: string; port: number; network?: string }) {
    this.#network = network
    this.#admin = admin
    this.#kubeconfigPath = kubeconfigPath
    this.#port = port
    this.#client = new Resource(admin, pods)
    this.#pods = new Reflector({ http: admin, resource: pods, labelSelector: Label.pool })
  }

  async start(): Promise<void> {
    this.#directory = await mkdtemp(join(tmpdir(), 'tintype-node-'))
    this.#pods.addListener(({ type, object }) => {
      // A pod may be deleted while it starts.
      if (type === 'added') void this.#run(object).catch((error: unknown) => isNotFound(error) || Promise.reject(error))
      else if (type === 'deleted') void this.#end(object)
      else if (object.metadata.deletionTimestamp && !this.isLost) void this.#remove(object)
    })
    this.#pods.start()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#pods.stop()
    await Promise.all([...this.runners.values()].map((runner) => runner.stop()))
    await Promise.all(this.#connections.map((http) => http.close()))
    await rm(this.#directory, { recursive: true, force: true })
  }

  /** The runner that last started an order for this Screenshot. */
  runnerOf(name: string): FakeRunner | undefined {
    const last = this.orders.findLast(({ order }) => order.name === name)
    return last && [...this.runners.values()].find(({ pod }) => pod === last.pod)
  }

  /** Ends the process of a runner as the kernel or a crash does: the kubelet reports the exit code. */
  async crash(runner: FakeRunner, exitCode: number): Promise<void> {
    runner.freeze()
    const terminated = { exitCode, reason: exitCode === 137 ? 'OOMKilled' : 'Error' }
    await this.#writeStatus(runner.pod, {
      ...withContainer({ terminated }),
      phase: 'Failed',
      conditions: [{ type: 'Ready', status: 'False' }],
    })
  }

  async #run(pod: Pod): Promise<void> {
    if (this.#isStopped || pod.metadata.deletionTimestamp) return
    const { name } = pod.metadata
    const ip = `${this.#network}.${Math.floor(++this.#count / 250)}.${(this.#count % 250) + 1}`
    const target = { apiVersion: 'v1', kind: 'Node', name: 'node1' }
    await this.#admin
      .request({
        method: 'POST',
        path: `${this.#client.pathOf(name)}/binding`,
        body: { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target },
      })
      .catch(() => {})
    const runner = await this.#startRunner(pod, ip)
    this.runners.set(runner.uid, runner)
    const now = new Date().toISOString().replace(/\.\d+Z/, 'Z')
    await this.#writeStatus(name, {
      phase: 'Running',
      podIP: ip,
      podIPs: [{ ip }],
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now }],
      ...withContainer({ running: { startedAt: now } }),
    })
  }

  async #writeStatus(name: string, status: object): Promise<void> {
    await this.#client
      .patch(name, mergePatch({ status }), { subresource: 'status', repeat: 'always', timeoutMilliseconds: 60_000 })
      .catch((error: unknown) => {
        if (!isNotFound(error) && !this.#isStopped) throw error
      })
  }

  /** The kubelet's part of a deletion: the process ends, then the object is deleted. */
  async #remove(pod: Pod): Promise<void> {
    await this.#end(pod)
    await this.#client.delete(pod.metadata.name, { uid: pod.metadata.uid, gracePeriodSeconds: 0 }).catch((error: unknown) => {
      if (!isNotFound(error) && !isConflict(error) && !this.#isStopped) throw error
    })
  }

  async #end({ metadata }: Pod): Promise<void> {
    const runner = this.runners.get(metadata.uid ?? '')
    if (!runner || this.isLost) return
    this.runners.delete(runner.uid)
    await runner.stop()
  }

  async #startRunner(pod: Pod, ip: string): Promise<FakeRunner> {
    const { name, uid = '' } = pod.metadata
    const environment = Object.fromEntries((pod.spec?.containers[0]?.env ?? []).map((variable) => [variable.name, variable.value]))
    const tokenFile = join(this.#directory, `${uid}.token`)
    await writeFile(tokenFile, await this.#requestToken(pod, [DISPATCH_AUDIENCE]))
    const log = pino({ level: process.env.TINTYPE_TEST_LOG ?? 'silent' })
    let gate: Promise<void> = Promise.resolve()
    let open: (() => void) | undefined
    const reporter = createReporter({ http: await this.#connect(await this.#requestToken(pod, [])), log })
    const program = new Runner({
      log,
      capture: async (order, cancelled, { onPageReady }) => {
        fake.orders.push(order)
        this.orders.push({ pod: name, order })
        const course = () => ({ processingMilliseconds: 20, timings: { navigate: 10, upload: 5 } })
        try {
          await this.capture(order, fake, cancelled, onPageReady)
          await gate
          cancelled.throwIfAborted()
          const text = `${order.name} attempt ${order.attempt} on ${name}`
          const etag = await this.store(order, text)
          await gate
          const findings = { warnings: [], truncated: false, ...this.findings(order) }
          const { format = 'png' } = order.options ?? {}
          const success = { format, width: 1, height: 1, stored: { fileSizeBytes: text.length, etag }, findings }
          return { outcome: buildSuccess(success, course(), new Date()), error: undefined }
        } catch (error) {
          cancelled.throwIfAborted()
          const failure = error instanceof CaptureError ? error : new CaptureError('INTERNAL_ERROR', String(error))
          return { outcome: buildFailure(failure, course(), new Date()), error: failure }
        }
      },
      report: async (order, outcome, cancelled) => reporter.report({ ...order, podUid: uid }, outcome, cancelled),
    })
    const server = buildServer({
      runner: program,
      verifier: await createVerifier({ publicKey: JSON.parse(environment.TINTYPE_DISPATCH_PUBLIC_KEY ?? ''), audience: uid }),
      keys: await createOrderKeys(),
      sandbox: { chromiumSandbox: true, jail: true, detail: '' },
      video: environment.TINTYPE_VIDEO === 'true' ? { available: true, detail: '' } : undefined,
      version: 'test',
      tokenFile,
      isReady: () => true,
      log,
    })
    const handlers = server.listeners('request') as ((...args: unknown[]) => void)[]
    server.removeAllListeners('request')
    server.on('request', (request, response) => {
      if (open) return
      const { intercept } = fake
      fake.intercept = undefined
      if (intercept?.(server, request, response)) return
      for (const handle of handlers) handle.call(server, request, response)
    })
    const fake: FakeRunner = {
      pod: name,
      uid,
      ip,
      orders: [],
      intercept: undefined,
      freeze: () => {
        const { promise, resolve } = Promise.withResolvers<void>()
        gate = promise
        open = resolve
      },
      thaw: () => {
        open?.()
        open = undefined
      },
      stop: async () => {
        server.close()
        server.closeAllConnections()
        await program.close(0)
      },
    }
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(this.#port, ip, resolve))
    return fake
  }

  async #connect(token: string): Promise<KubeHttp> {
    const access = await accessPlane(this.#kubeconfigPath)
    const { tls } = await access.credentials()
    const http = new KubeHttp(
      accessFromToken({ server: access.server, token, namespace: this.#admin.namespace, ...(tls.ca ? { ca: tls.ca } : {}) }),
    )
    this.#connections.push(http)
    return http
  }

  /** A token as the kubelet projects it, bound to the pod. It is not renewed here. */
  async #requestToken({ metadata, spec }: Pod, audiences: string[]): Promise<string> {
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: metadata.name, uid: metadata.uid }
    const { status } = await this.#admin.request<TokenRequest>({
      method: 'POST',
      repeat: 'always',
      timeoutMilliseconds: 60_000,
      path: `${new Resource(this.#admin, serviceAccounts).pathOf(spec?.serviceAccountName ?? '')}/token`,
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { audiences, expirationSeconds: TOKEN_SECONDS, boundObjectRef },
      },
    })
    return status?.token ?? ''
  }
}
