import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadClusterAccess } from '@tintype/crds/client/cluster-access'
import { screenshotSchedules as scheduleResource, webhooks as webhookResource } from '@tintype/crds/client/kinds'
import { KubeHttp } from '@tintype/crds/client/kube-http'
import { openSpans } from '@tintype/crds/client/open-spans'
import { buildProbeServer } from '@tintype/crds/client/probe-server'
import { Reflector } from '@tintype/crds/client/reflector'
import { Resource } from '@tintype/crds/client/resource'
import { LinkKey } from '@tintype/crds/crypto/api-keys'
import { bucketUrl } from '@tintype/crds/crypto/presign'
import { SealingKey } from '@tintype/crds/crypto/sealed'
import { KeyRing } from '@tintype/crds/crypto/signatures'
import { apiKeyIdOf, scheduleIdOf, webhookIdOf } from '@tintype/crds/identifiers/ids'
import { isApiKeyIdName, isScheduleIdName, isWebhookIdName } from '@tintype/crds/identifiers/names'
import { IgnoredObjects } from '@tintype/crds/records/ignored-objects'
import { followStoreChanges, waitForAccess } from '@tintype/crds/storage/access'
import { type Logger, pino } from 'pino'
import type { z } from 'zod'
import { buildApp } from './app.ts'
import { BucketArchive } from './archive/bucket-archive.ts'
import { BodyBudget } from './bodies/budget.ts'
import { API_VERSION } from './common/version.ts'
import { type Config, loadConfig } from './config.ts'
import { type ConsoleFiles, openConsoleFiles } from './console/files.ts'
import { Idempotency } from './creation/idempotency.ts'
import { Queue } from './creation/queue.ts'
import { UncertainCreates } from './creation/uncertain-creates.ts'
import { addGauges, buildMetrics, type Metrics } from './metrics/metrics.ts'
import { GatewayLease, ServerClock } from './quota/gateway-lease.ts'
import { KubeQuota } from './quota/kube-quota.ts'
import { findUnreadyReasons } from './readiness.ts'
import { KubePostRequests } from './resources/deliveries/kube-post-requests.ts'
import { Downloads } from './resources/files/downloads.ts'
import { buildStoreLinks } from './resources/files/store-links.ts'
import { KubeKeys } from './resources/keys/kube-keys.ts'
import { KubeQueue } from './resources/screenshots/store/kube-queue.ts'
import { KubeScreenshots } from './resources/screenshots/store/kube-screenshots.ts'
import { buildProbe } from './resources/status/probe.ts'
import { KubeSystem } from './resources/system/kube-system.ts'
import { openBucket } from './store/bucket.ts'
import { KubeRecords } from './store/kube-records.ts'
import { MountedJson } from './store/mounted-json.ts'

// Creates all components, and starts and stops them in order.

async function run(config: Config): Promise<void> {
  const startedAt = new Date()
  const log = pino({ level: config.logLevel, base: { pod: config.podName } })
  const metrics = buildMetrics()
  const keyFiles = await openKeyFiles(config, log)
  const stores = await openStores(config, { log, metrics, keyRing: keyFiles.keyRing.current })
  const service = { name: 'tintype-api-gateway', version: API_VERSION, instance: config.podName }
  const spans = await openSpans({ service, ...config.tracing, log })
  const draining = new AbortController()
  const { http, keys, lease, quota, reflectors } = stores
  for (const reflector of reflectors) reflector.start()
  keys.uses.start()
  lease.start()
  const app = buildApp({ ...(await openApp(config, { log, metrics, keyFiles, stores })), spans, startedAt, draining: draining.signal })
  const probes = openProbes({ metrics, keyFiles, stores, draining: draining.signal })
  probes.listen(config.metricsPort)
  await Promise.all(reflectors.map((reflector) => reflector.whenSynced()))
  await app.listen({ port: config.port, host: '::' })

  const [signal] = await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
  log.info({ signal }, 'shutdown started')
  // Held requests end at once. New requests are accepted until load balancers have removed this replica.
  draining.abort()
  await sleep(config.drainDelayMilliseconds)
  await Promise.race([app.close(), sleep(config.shutdownGraceMilliseconds)])
  await keys.uses.stop()
  // Settled reservations are written before the Lease is deleted, so the operator need not settle them.
  await quota.close()
  await lease.end()
  for (const file of Object.values(keyFiles)) file.stop()
  await spans?.stop()
  await Promise.all(reflectors.map((reflector) => reflector.stop()))
  await http.close()
  probes.close()
  log.info('shutdown completed')
  // A long download or a request that hangs must not keep the process alive.
  process.exit(0)
}

/** Reads the keys that sign downloads, seal secrets of clients, and derive the secrets of links. Only the operator opens what is sealed. */
async function openKeyFiles(config: Config, log: Logger) {
  const open = <T>(file: string, schema: z.ZodType<T>, what: string, notLoadedMessage: string) =>
    new MountedJson({ path: file, schema, what, notLoadedMessage, log })
  const files = {
    keyRing: open(config.downloadKeysFile, KeyRing, 'download keys', 'download links cannot be signed yet: retry in a few seconds'),
    sealingKey: open(config.sealingKeyFile, SealingKey, 'sealing key', 'secrets cannot be sealed yet: retry in a few seconds'),
    // After an upgrade from a version without links, it appears within two minutes.
    linkKey: open(config.linkKeyFile, LinkKey, 'link key', 'link secrets cannot be derived yet: retry in a minute'),
  }
  await Promise.all(Object.values(files).map((file) => file.start()))
  return files
}

type KeyFiles = Awaited<ReturnType<typeof openKeyFiles>>

interface StoreParts {
  log: Logger
  metrics: Metrics
  keyRing: KeyFiles['keyRing']['current']
}

/** Opens the API server with its caches, and the bucket with the archive. */
async function openStores(config: Config, { log, metrics, keyRing }: StoreParts) {
  const clock = new ServerClock(Date.now)
  const { now } = clock
  const access = await loadClusterAccess(process.env)
  const http = new KubeHttp(
    { ...access, namespace: config.namespace ?? access.namespace },
    {
      userAgent: 'tintype-api-gateway',
      onRequest: (record) => {
        metrics.onKubeRequest(record)
        clock.note(record)
      },
    },
  )
  const parts = { http, log, metrics: metrics.reflector }
  const screenshots = new KubeScreenshots({ ...parts, maxFinished: 2 * config.maxLive })
  const keys = new KubeKeys(parts)
  const webhookReflector = new Reflector({ ...parts, resource: webhookResource })
  const scheduleReflector = new Reflector({ ...parts, resource: scheduleResource })
  const identity = `${config.podName}-${randomBytes(4).toString('hex')}`
  const lease = new GatewayLease({ http, log, now, identity, pod: { name: config.podName, uid: config.podUid } })
  const quota = new KubeQuota({ http, log, now, lease, plans: config.plans, metrics: metrics.quota, reflectorMetrics: metrics.reflector })
  const bucket = openBucket(config.storage)
  const { storage, publicStorage } = config
  const isOwnSigner = publicStorage !== undefined && publicStorage.accessKey !== storage.accessKey
  followStoreChanges({
    directory: config.storageKeysDirectory,
    keys: publicStorage && !isOwnSigner ? [storage, publicStorage] : [storage],
    signer: isOwnSigner ? publicStorage : undefined,
    caFile: process.env.NODE_EXTRA_CA_CERTS,
    log,
  })
  const { report } = new IgnoredObjects({ count: metrics.onIgnored, log })
  // The first two authenticate requests.
  const authReflectors = [keys.keys, keys.accounts]
  return {
    now,
    http,
    screenshots,
    keys,
    apiKeys: new KubeRecords({ http, reflector: keys.keys, what: 'API key', idOf: apiKeyIdOf, isIdName: isApiKeyIdName }),
    webhooks: new KubeRecords({ http, reflector: webhookReflector, what: 'webhook', idOf: webhookIdOf, isIdName: isWebhookIdName }),
    schedules: new KubeRecords({ http, reflector: scheduleReflector, what: 'schedule', idOf: scheduleIdOf, isIdName: isScheduleIdName }),
    postRequests: new KubePostRequests({ http, reflector: webhookReflector, now }),
    lease,
    quota,
    bucket,
    report,
    archive: new BucketArchive(bucket, { keyRing, report, now }),
    authReflectors,
    reflectors: [...authReflectors, screenshots.reflector, quota.reflector, webhookReflector, scheduleReflector],
  }
}

interface AppParts {
  log: Logger
  metrics: Metrics
  keyFiles: KeyFiles
  stores: Awaited<ReturnType<typeof openStores>>
}

/** Builds what the routes use, from the stores and the settings. */
async function openApp(config: Config, { log, metrics, keyFiles, stores }: AppParts) {
  const { http, screenshots, keys, bucket, report, archive, quota, now } = stores
  const keyRing = keyFiles.keyRing.current
  const findAccount = keys.findCachedAccount
  const accounts = new Resource(http, keys.accounts.resource)
  const downloads = new Downloads({ max: config.maxDownloads, metrics, now: () => performance.now() })
  const bodyBudget = new BodyBudget({
    maxBytes: config.bodyBytes,
    onRefuse: (limit) => metrics.bodiesRefused.inc({ limit }),
    collectGarbage: globalThis.gc,
  })
  addGauges(metrics, { downloads: () => downloads.active, bodyBytes: () => bodyBudget.bytes, heldRequests: () => screenshots.waitingCount })
  return {
    ...config,
    ...stores,
    queue: new Queue({
      view: new KubeQueue(screenshots.reflector, http.namespace, () => screenshots.isFull()),
      bounds: config.queue,
      plans: config.plans,
      findAccount,
    }),
    uncertainCreates: new UncertainCreates({ screenshots, archive, quota, log }),
    objects: bucket,
    files: bucket,
    idempotency: new Idempotency({ objects: bucket, keyRing, now, report }),
    downloads,
    bodyBudget,
    system: new KubeSystem({ http, screenshots: screenshots.reflector, findAccount }),
    metrics,
    traceRatio: config.tracing.ratio,
    log,
    keyRing,
    sealingKey: keyFiles.sealingKey.current,
    linkKey: keyFiles.linkKey.current,
    signStoreLink: config.publicStorage && buildStoreLinks(config.publicStorage),
    console: await openConsole(config, log),
    storeOrigin: config.publicStorage && new URL(bucketUrl(config.publicStorage)).origin,
    // A consistent read of one object, because the API server's cache would respond even if etcd is down.
    database: buildProbe(() => accounts.list({ limit: 1, timeoutMilliseconds: 2_000, repeat: 'never' })),
    storage: buildProbe(() => bucket.check()),
  }
}

/** Opens the server for probes and metrics. */
function openProbes({
  metrics,
  keyFiles,
  stores,
  draining,
}: Pick<AppParts, 'metrics' | 'keyFiles' | 'stores'> & { draining: AbortSignal }) {
  const { bucket, reflectors, authReflectors } = stores
  let isAdmitted = false
  void waitForAccess(() => bucket.check(), { signal: draining }).then(
    () => (isAdmitted = true),
    () => {},
  )
  return buildProbeServer({
    registry: metrics.registry,
    findUnready: () =>
      findUnreadyReasons({
        isDraining: draining.aborted,
        hasDownloadKeys: keyFiles.keyRing.isLoaded,
        hasSealingKey: keyFiles.sealingKey.isLoaded,
        isAdmitted,
        nowMilliseconds: Date.now(),
        caches: reflectors.map(({ resource, hasSynced, lastSeenAt }, index) => ({
          name: resource.plural,
          hasSynced,
          lastSeenAt,
          isForAuthentication: index < authReflectors.length,
        })),
      }),
  })
}

/** The build puts the console's files beside the program. */
async function openConsole({ console: { isEnabled, directory } }: Config, log: Logger): Promise<ConsoleFiles | undefined> {
  if (!isEnabled) return undefined
  const files = await openConsoleFiles(directory === '' ? path.join(import.meta.dirname, 'console') : directory)
  if (!files) log.warn('console has no files; run api-gateway/console/build.ts')
  return files
}

function readConfig(): Config {
  try {
    return loadConfig(process.env)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  }
}

await run(readConfig())
