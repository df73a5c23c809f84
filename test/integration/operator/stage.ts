// Setup of the operator tests: the chart on a real API server, with its RBAC and admission policies, a real store, and a fake node.
// Operators run in this process with the chart's ServiceAccount.

import { generateKeyPairSync } from 'node:crypto'
import { pino } from 'pino'
import type { Test } from 'tap'
import { events, type Pod, pods, runnerPools, screenshots } from '../../../crds/client/kinds.ts'
import type { KubeHttpOptions } from '../../../crds/client/kube-http.ts'
import { mergePatch, Resource } from '../../../crds/client/resource.ts'
import { newOpeningKey } from '../../../crds/src/crypto/sealed.ts'
import { newId, screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { RunnerPoolSpec } from '../../../crds/src/kinds/runner-pool.ts'
import { isFinished, type Screenshot, type ScreenshotSpec } from '../../../crds/src/kinds/screenshot.ts'
import { withDefaults } from '../../../crds/src/options/catalog.ts'
import { IgnoredObjects } from '../../../crds/src/records/ignored-objects.ts'
import { accountOf } from '../../../crds/src/records/record.ts'
import { objectKey } from '../../../crds/src/records/storage-keys.ts'
import { systemClock } from '../../../operator/src/controller-runtime/clock.ts'
import { createCaptureControllers } from '../../../operator/src/controllers/all.ts'
import { EventOrder } from '../../../operator/src/controllers/delivery/events/event-order.ts'
import { createPendingController } from '../../../operator/src/controllers/pending/controller.ts'
import { createQuotaController } from '../../../operator/src/controllers/quota/controller.ts'
import { createEventRecorder } from '../../../operator/src/kube/event-recorder.ts'
import { createReflectors } from '../../../operator/src/kube/reflectors.ts'
import { createSigner } from '../../../operator/src/runner/runner-client.ts'
import { loadConfig } from '../../../operator/src/runtime/config.ts'
import { createMetrics } from '../../../operator/src/runtime/metrics.ts'
import { DispatchKey } from '../../../operator/src/secrets/release-keys.ts'
import { Archiving } from '../../../operator/src/storage/archiving.ts'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import { findFreePorts } from '../../cluster/host/ports.ts'
import { eventually } from '../../support/eventually.ts'
import { openTestStore } from '../../support/servers/test-store.ts'
import { helm } from '../../support/sources/chart.ts'
import { ring } from '../../support/sources/mark-checks.ts'
import { installRelease, NAMESPACE } from '../admission/release.ts'
import { makeIdentities, operatorStorage } from '../store-identities.ts'
import { startTerm } from './lead.ts'
import { FakeNode } from './node.ts'

/** A name for a Screenshot. It contains its id. */
export const newName = (): string => toObjectName(newId('scr', new Date()))

/** An operator that considers itself the leader. */
export interface Operator {
  metrics: ReturnType<typeof createMetrics>
  /** Its informer caches. */
  reflectors: ReturnType<typeof createReflectors>
  /** Ends it as a lost lease does: work in progress is left as it is. */
  stop: () => Promise<void>
}

/** @param given the port that runners listen on; a free one unless the tested program needs a fixed one */
export async function startStage(t: Test, given: { runnerPort?: number; environment?: Record<string, string> } = {}) {
  const minio = await openTestStore(t)
  const release = await installRelease(t)
  const runnerPort = given.runnerPort ?? (await findFreePorts(1))[0]!
  // Two files with a fixed port may run at the same time.
  const network = `127.${2 + (process.pid % 250)}`
  const node = new FakeNode({ admin: release.admin, kubeconfigPath: release.kubeconfigPath, port: runnerPort, network })
  await node.start()
  t.teardown(() => node.stop())

  const dispatchKey = DispatchKey.parse(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }))
  const openingKey = newOpeningKey('k1')
  await openStorage(minio.access()).ensureBucket()
  const root = minio.connect()
  const environment = {
    TINTYPE_NAMESPACE: NAMESPACE,
    TINTYPE_POD_NAME: 'tintype-operator-0',
    TINTYPE_POD_UID: 'operator-uid',
    ...operatorStorage(minio, await makeIdentities(minio)),
    ...(await readPolicies(release.kubeconfigPath)),
    ...given.environment,
  }
  const config = loadConfig(environment)
  const storage = openStorage(config.storage, { uploads: config.uploads })
  /** Log lines of the operators about objects that they ignored. */
  const ignored: object[] = []
  /** Milliseconds by which the operators' clock is ahead. */
  const clock = { ahead: 0 }

  /** Builds what an operator passes to its controllers, except for the clients of a term. */
  async function prepare(options: KubeHttpOptions = {}) {
    const metrics = createMetrics()
    const http = await release.asAccount('tintype-operator', options)
    const log = pino({ level: process.env.TINTYPE_TEST_LOG ?? 'silent' })
    const reflectors = createReflectors(http, { log, metrics: metrics.reflector })
    for (const reflector of Object.values(reflectors)) reflector.start()
    await Promise.all(Object.values(reflectors).map((reflector) => reflector.whenSynced()))
    const now = () => Date.now() + clock.ahead
    const deps = {
      config,
      log,
      registry: metrics.registry,
      controllerMetrics: metrics.runtime,
      clock: { ...systemClock, wall: now },
      reflectors,
      keys: { dispatchKey, downloadKeys: ring, openingKeys: [openingKey] },
      report: new IgnoredObjects({ count: metrics.onIgnored, log: { warn: (fields) => ignored.push(fields) } }).report,
      archiving: new Archiving(),
      eventOrder: new EventOrder(reflectors),
    }
    const recorder = createEventRecorder({ events: new Resource(http, events), instance: 'operator', log, now })
    return { deps, metrics, http, recorder, sign: await createSigner(dispatchKey) }
  }

  /** Starts an operator that leads from now on; `charges`: it also manages the usage of accounts. */
  async function lead({ charges = false } = {}): Promise<Operator> {
    const { deps, metrics, http, recorder, sign } = await prepare()
    const { reflectors } = deps
    const quota = charges ? createQuotaController(deps) : undefined
    const charge = quota ? { charge: quota.charge } : {}
    const core = createCaptureControllers({ deps, metrics, sign, runnerPort, ...charge })
    const works = [core, createPendingController(deps, { charges }), ...(quota ? [quota] : [])]
    const stop = startTerm(t, works, Object.values(reflectors), { http, storage, events: recorder })
    return { metrics, reflectors, stop }
  }

  const shots = new Resource(release.admin, screenshots)
  const poolClient = new Resource(release.admin, runnerPools)
  const podClient = new Resource<Pod>(release.admin, pods)

  const ofGateway = new Resource(await release.asAccount('tintype-api-gateway'), screenshots)

  /** Creates a Screenshot as the gateway does. */
  const create = (spec: Partial<ScreenshotSpec> = {}): Promise<Screenshot> => createNamed(newName(), spec)
  const createNamed = (name: string, spec: Partial<ScreenshotSpec>): Promise<Screenshot> =>
    ofGateway.create({ metadata: { name }, spec: { url: 'https://example.com/', ...spec } })

  /** Waits for the Screenshot to satisfy a condition. */
  const when = (shot: Screenshot, what: string, test: (shot: Screenshot) => boolean) =>
    eventually(`${shot.metadata.name} ${what}`, async () => {
      const current = await shots.get(shot.metadata.name)
      return test(current) && current
    }).catch(async (error: unknown) => {
      throw new Error(JSON.stringify((await shots.find(shot.metadata.name))?.status), { cause: error })
    })
  const whenFinished = (shot: Screenshot) => when(shot, 'is finished', isFinished)
  const whenRunning = (shot: Screenshot) =>
    eventually(`${shot.metadata.name} is being captured`, async () => node.orders.some(({ order }) => order.name === shot.metadata.name))

  /** The text of a Screenshot's file. */
  async function fileOf(shot: Screenshot): Promise<string | undefined> {
    const key = objectKey(accountOf(shot), screenshotIdOf(shot.metadata), withDefaults(shot.spec.options).format)
    try {
      const chunks: Buffer[] = []
      for await (const chunk of await root.getObject(minio.access().bucket, key)) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks).toString()
    } catch (error) {
      if ((error as { code?: string }).code === 'NoSuchKey') return undefined
      throw error
    }
  }

  /** Changes the pool. */
  async function setPool(spec: Partial<RunnerPoolSpec>): Promise<void> {
    await poolClient.patch(
      'default',
      mergePatch({ spec: { capturesPerPod: null, sandbox: { mode: 'auto' }, scaleDownDelaySeconds: 120, maxPods: 4, ...spec } }),
    )
  }
  /** Waits until at least this many runners are idle. */
  const whenIdle = (count: number) =>
    eventually(`${count} are idle`, async () => ((await poolClient.get('default')).status?.idle ?? 0) >= count).catch(
      async (error: unknown) => {
        throw new Error(JSON.stringify((await poolClient.find('default'))?.status), { cause: error })
      },
    )
  const pool = () => poolClient.get('default')
  /** Events about an object. */
  const eventsOf = (name: string) => new Resource(release.admin, events).listAll({ fieldSelector: `involvedObject.name=${name}` })
  const poolPods = () => podClient.listAll({ labelSelector: 'tintype.dev/pool=default' })

  return {
    release,
    minio,
    node,
    ignored,
    clock,
    config,
    prepare,
    lead,
    shots,
    poolClient,
    podClient,
    create,
    createNamed,
    when,
    whenFinished,
    whenRunning,
    fileOf,
    setPool,
    whenIdle,
    pool,
    poolPods,
    eventsOf,
    runnerPort,
    environment,
    openingKey,
    storage,
  }
}

const POLICIES =
  /name: (TINTYPE_(?:ADMISSION_POLICY|ADMISSION_POLICY_HASH|TRUSTED_SPEC_POLICY|TRUSTED_STATUS_POLICY)), value: "?([^"\s}]+)/g

/** The names of the policies that the chart passes to the operator, and the hash of the one for runners. */
export async function readPolicies(kubeconfigPath: string): Promise<Record<string, string>> {
  const manifest = await helm(['get', 'manifest', 'tintype', '--namespace', NAMESPACE], { KUBECONFIG: kubeconfigPath })
  return Object.fromEntries([...manifest.matchAll(POLICIES)].map(([, name = '', value = '']) => [name, value]))
}
