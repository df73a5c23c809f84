// rbac: coordination.k8s.io/leases get,create,update
// rbac: tintype.dev/webhooks list,watch
// rbac: /pods get

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadClusterAccess } from '@tintype/crds/client/cluster-access'
import { secrets } from '@tintype/crds/client/kinds'
import { KubeHttp } from '@tintype/crds/client/kube-http'
import { openSpans } from '@tintype/crds/client/open-spans'
import { buildProbeServer } from '@tintype/crds/client/probe-server'
import { Resource } from '@tintype/crds/client/resource'
import { IgnoredObjects } from '@tintype/crds/records/ignored-objects'
import { followStoreChanges } from '@tintype/crds/storage/access'
import { type Logger, pino } from 'pino'
import { z } from 'zod'
import manifest from '../package.json' with { type: 'json' }
import { systemClock } from './controller-runtime/clock.ts'
import { findProblems, TerminalError } from './controller-runtime/controller.ts'
import { HOLDER_POD_ANNOTATION, holderPodProbe, LeaderElection } from './controller-runtime/leader-election.ts'
import { leaseStore } from './controller-runtime/lease.ts'
import { watchQueues } from './controller-runtime/metrics.ts'
import { bootstrapAccount } from './controllers/account/bootstrap.ts'
import { createControllers } from './controllers/all.ts'
import { EventOrder } from './controllers/delivery/events/event-order.ts'
import { createClients } from './kube/clients.ts'
import { EventFilter } from './kube/event-recorder.ts'
import { createReflectors, type Reflectors } from './kube/reflectors.ts'
import { createSigner } from './runner/runner-client.ts'
import { type Config, loadConfig } from './runtime/config.ts'
import { createLeadership, type Deps, openTerm } from './runtime/deps.ts'
import { createMetrics, registerCacheMetrics, watchPhases } from './runtime/metrics.ts'
import { ensureReleaseKeys } from './secrets/release-keys.ts'
import { runSetup } from './setup/run-setup.ts'
import { Archiving } from './storage/archiving.ts'
import { openStorage } from './storage/storage.ts'

// Wires the parts together. The chart's Jobs start this program with a command as argument.

const CONTAINER = 'operator'
const RETRY_MILLISECONDS = 2_000
const MAX_RETRY_MILLISECONDS = 30_000
/** Captures and uploads need the store, so the election waits this long for its bucket to exist. */
const STORE_PATIENCE_MILLISECONDS = 60_000

const [command, ...args] = process.argv.slice(2)
if (command === undefined) await runOperator(readConfig())
else await runSetup(command, args, process.env).catch(failOnSettings)

function readConfig(): Config {
  try {
    return loadConfig(process.env)
  } catch (error) {
    return failOnSettings(error)
  }
}

/** Exits with the list of invalid environment variables. @throws every other error */
function failOnSettings(error: unknown): never {
  if (!(error instanceof z.ZodError)) throw error
  console.error(`invalid environment variables:\n${z.prettifyError(error)}`)
  process.exit(1)
}

async function runOperator(config: Config): Promise<void> {
  const log = pino({ level: config.logLevel, base: { pod: config.podName } })
  const { namespace } = config
  const stopping = new AbortController()
  const metrics = createMetrics()
  const http = new KubeHttp(
    { ...(await loadClusterAccess(process.env)), namespace },
    { onRequest: metrics.onRequest, userAgent: 'tintype-operator' },
  )
  const reflectors = createReflectors(http, { log: log.child({ component: 'reflector' }), metrics: metrics.reflector })
  for (const reflector of Object.values(reflectors)) reflector.start()
  const storage = openStorage(config.storage, { uploads: config.uploads })
  followStoreChanges({
    directory: config.storageKeysDirectory,
    keys: [config.storage],
    signer: config.uploads,
    caFile: process.env.NODE_EXTRA_CA_CERTS,
    log,
  })
  const ignored = new IgnoredObjects({ count: metrics.onIgnored, log: log.child({ component: 'storage' }) })
  const isBucketThere = retryUntilSuccess('ensure the bucket', () => storage.ensureBucket(), { log, signal: stopping.signal })
  const ensureKeys = () => ensureReleaseKeys(new Resource(http, secrets, { namespace }), config.release)

  let findUnready = () => ['starting']
  let findStuck: () => string[] = () => []
  const server = buildProbeServer({ registry: metrics.registry, findProblems: () => findStuck(), findUnready: () => findUnready() })
  await once(server.listen(config.metricsPort), 'listening')
  const keys = await retryUntilSuccess('ensure the keys', ensureKeys, { log, signal: stopping.signal })

  const election: LeaderElection = new LeaderElection({
    leases: leaseStore(http, `${config.release}-operator`, namespace),
    identity: config.podUid,
    holderAnnotations: { [HOLDER_POD_ANNOTATION]: config.podName },
    isHolderAlive: holderPodProbe({ http, namespace, container: CONTAINER }),
    ...config.lease,
    log: log.child({ component: 'election' }),
    metrics: metrics.runtime,
    onNewLeader: (identity) => log.info({ identity, isSelf: identity === config.podUid }, 'new leader'),
    onStoppedLeading: (reason) => log.warn({ reason }, 'leadership lost'),
    onStartedLeading: (signal) => lead(signal),
  })
  const service = { name: 'tintype-operator', version: manifest.version, instance: config.podName }
  const spans = await openSpans({ service, ...config.tracing, log })
  const deps: Deps = {
    config,
    spans,
    log,
    registry: metrics.registry,
    controllerMetrics: metrics.runtime,
    clock: systemClock,
    reflectors,
    keys,
    report: ignored.report,
    archiving: new Archiving(),
    eventOrder: new EventOrder(reflectors),
  }
  const eventFilter = new EventFilter()
  const leadership = createLeadership(createControllers({ deps, metrics, sign: await createSigner(keys.dispatchKey) }))
  watchQueues(metrics.registry, () => leadership.controllers.map(({ queue }) => queue))
  watchPhases(metrics.registry, (phase) => reflectors.screenshots.lister.countByIndex('phase', phase))
  const { liveForMilliseconds } = config.retention
  registerCacheMetrics(metrics.registry, { reflectors, namespace, liveForMilliseconds, now: systemClock.wall })
  findStuck = () => findProblems({ controllers: leadership.controllers, reflectors: Object.values(reflectors), now: Date.now() })
  findUnready = () => findUnsynced(reflectors)

  const whenSynced = (signal: AbortSignal) => Promise.all(Object.values(reflectors).map((reflector) => reflector.whenSynced(signal)))
  async function lead(signal: AbortSignal): Promise<void> {
    log.info({ term: election.term }, 'leadership acquired')
    await whenSynced(signal)
    let isOver = false
    const mayWrite = () => !isOver && election.isLeader()
    const term = openTerm({ signal, mayWrite, http, config, eventFilter, log, now: systemClock.wall })
    const bootstrap = () => bootstrapAccount(createClients(term.http, reflectors), { release: config.release, plan: config.bootstrap.plan })
    if (config.bootstrap.enabled) void retryUntilSuccess('create the first account', bootstrap, { log, signal }).catch(() => {})
    await leadership.lead(term)
    // Work that did not stop in time must not write in a later term of this process.
    isOver = true
  }

  // Join the election only after every cache has synced. A replica that cannot read the cluster must not become leader.
  const whenStored = Promise.race([isBucketThere, sleep(STORE_PATIENCE_MILLISECONDS, undefined, { signal: stopping.signal })])
  void Promise.all([whenSynced(stopping.signal), whenStored]).then(
    () => election.start(),
    () => {},
  )
  const { promise: stopSignal, resolve } = Promise.withResolvers<string>()
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve(name))
  log.info({ reason: await stopSignal }, 'stopping')
  findUnready = () => ['stopping']
  stopping.abort()
  await election.stop()
  await Promise.all([...Object.values(reflectors).map((reflector) => reflector.stop()), isBucketThere.catch(() => {})])
  await spans?.stop()
  await http.close()
  server.close()
  server.closeAllConnections()
}

/** Retries a start-up step with exponential backoff until it succeeds or the process stops. Each failure is logged. */
async function retryUntilSuccess<T>(
  what: string,
  act: () => Promise<T>,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<T> {
  for (let delay = RETRY_MILLISECONDS; ; delay = Math.min(MAX_RETRY_MILLISECONDS, delay * 2)) {
    try {
      return await act()
    } catch (error) {
      signal.throwIfAborted()
      log[error instanceof TerminalError ? 'error' : 'warn']({ err: error, what }, 'start-up step failed; will retry')
      await sleep(delay, undefined, { signal })
    }
  }
}

function findUnsynced(reflectors: Reflectors): string[] {
  return Object.entries(reflectors).flatMap(([name, { hasSynced }]) => (hasSynced ? [] : [`the cache of ${name} is not synced`]))
}
