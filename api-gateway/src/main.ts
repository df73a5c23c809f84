import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadClusterAccess } from '@tintype/crds/client/cluster-access'
import { screenshotSchedules as scheduleResource, webhooks as webhookResource } from '@tintype/crds/client/kinds'
import { KubeHttp } from '@tintype/crds/client/kube-http'
import { Reflector } from '@tintype/crds/client/reflector'
import { Resource } from '@tintype/crds/client/resource'
import type { SpanExporter } from '@tintype/crds/client/span-exporter'
import { bucketUrl } from '@tintype/crds/crypto/presign'
import { apiKeyIdOf, scheduleIdOf, webhookIdOf } from '@tintype/crds/identifiers/ids'
import { isApiKeyIdName, isScheduleIdName, isWebhookIdName } from '@tintype/crds/identifiers/names'
import { IgnoredObjects } from '@tintype/crds/records/ignored-objects'
import { waitForAccess } from '@tintype/crds/storage/access'
import { followStoreChanges } from '@tintype/crds/storage/follow-changes'
import { type Logger, pino } from 'pino'
import { buildApp } from './app.ts'
import { BucketArchive } from './archive/bucket-archive.ts'
import { BodyBudget } from './bodies/budget.ts'
import { API_VERSION } from './common/version.ts'
import { type Config, loadConfig } from './config.ts'
import { type ConsoleFiles, openConsoleFiles } from './console/files.ts'
import { Idempotency } from './creation/idempotency.ts'
import { Queue } from './creation/queue.ts'
import { UncertainCreates } from './creation/uncertain-creates.ts'
import { addGauges, buildMetrics } from './metrics/metrics.ts'
import { buildProbeServer } from './probes.ts'
import { GatewayLease } from './quota/gateway-lease.ts'
import { KubeQuota } from './quota/kube-quota.ts'
import { ServerClock } from './quota/server-clock.ts'
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
import { KeyRingFile } from './store/key-ring-file.ts'
import { KubeRecords } from './store/kube-records.ts'
import { LinkKeyFile } from './store/link-key-file.ts'
import { SealingKeyFile } from './store/sealing-key-file.ts'

// Creates all components, and starts and stops them in order.

async function run(config: Config): Promise<void> {
  const startedAt = new Date()
  const log = pino({ level: config.logLevel, base: { pod: config.podName } })
  const metrics = buildMetrics()
  const clock = new ServerClock(() => Date.now())
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
  const queue = new Queue({
    view: new KubeQueue(screenshots.reflector, http.namespace, () => screenshots.isFull()),
    bounds: config.queue,
    plans: config.plans,
    findAccount: (name) => keys.findCachedAccount(name),
  })
  const apiKeys = new KubeRecords({ http, reflector: keys.keys, what: 'API key', idOf: apiKeyIdOf, isIdName: isApiKeyIdName })
  const webhookReflector = new Reflector({ ...parts, resource: webhookResource })
  const webhooks = new KubeRecords({ http, reflector: webhookReflector, what: 'webhook', idOf: webhookIdOf, isIdName: isWebhookIdName })
  const scheduleReflector = new Reflector({ ...parts, resource: scheduleResource })
  const schedules = new KubeRecords({
    http,
    reflector: scheduleReflector,
    what: 'schedule',
    idOf: scheduleIdOf,
    isIdName: isScheduleIdName,
  })
  const now = () => clock.now()
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
  const keyRing = new KeyRingFile(config.downloadKeysFile, log)
  const { report } = new IgnoredObjects({ count: metrics.onIgnored, log })
  const archive = new BucketArchive(bucket, { keyRing: keyRing.current, report, now })
  const sealingKey = new SealingKeyFile(config.sealingKeyFile, log)
  const linkKey = new LinkKeyFile(config.linkKeyFile, log)
  const downloads = new Downloads({ max: config.maxDownloads, metrics, now: () => performance.now() })
  const bodyBudget = new BodyBudget({
    maxBytes: config.bodyBytes,
    onRefuse: (limit) => metrics.bodiesRefused.inc({ limit }),
    collectGarbage: globalThis.gc,
  })
  const spans = await openSpans(config, log)
  const draining = new AbortController()
  addGauges(metrics, { downloads: () => downloads.active, bodyBytes: () => bodyBudget.bytes, heldRequests: () => screenshots.waitingCount })

  // The first two authenticate requests.
  const authReflectors = [keys.keys, keys.accounts]
  const reflectors = [...authReflectors, screenshots.reflector, quota.reflector, webhookReflector, scheduleReflector]
  for (const reflector of reflectors) reflector.start()
  keys.uses.start()
  lease.start()
  await Promise.all([keyRing.start(), sealingKey.start(), linkKey.start()])

  const accounts = new Resource(http, keys.accounts.resource)
  const app = buildApp({
    screenshots,
    queue,
    uncertainCreates: new UncertainCreates({ screenshots, archive, quota, log }),
    quota,
    objects: bucket,
    idempotency: new Idempotency(bucket, keyRing.current, now, report),
    plans: config.plans,
    keys,
    apiKeys,
    webhooks,
    schedules,
    postRequests: new KubePostRequests({ http, reflector: webhookReflector, now }),
    optionPolicy: config.optionPolicy,
    thumbnailWidth: config.thumbnailWidth,
    webhookRules: config.webhookRules,
    maxKeys: config.maxKeys,
    maxWebhooks: config.maxWebhooks,
    maxSchedules: config.maxSchedules,
    archive,
    files: bucket,
    report,
    downloads,
    system: new KubeSystem({ http, screenshots: screenshots.reflector, findAccount: (name) => keys.findCachedAccount(name) }),
    metrics,
    spans,
    traceRatio: config.tracing.ratio,
    log,
    startedAt,
    keyRing: keyRing.current,
    sealingKey: sealingKey.current,
    linkKey: linkKey.current,
    publicUrl: config.publicUrl,
    signStoreLink: config.publicStorage && buildStoreLinks(config.publicStorage),
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    console: await openConsole(config, log),
    storeOrigin: config.publicStorage && new URL(bucketUrl(config.publicStorage)).origin,
    callsPerMinute: config.callsPerMinute,
    linkCacheBytes: config.linkCacheBytes,
    bodyBudget,
    egress: config.egress,
    draining: draining.signal,
    now,
    // A consistent read of one object, because the API server's cache would respond even if etcd is down.
    database: buildProbe(() => accounts.list({ limit: 1, timeoutMilliseconds: 2_000, repeat: 'never' })),
    storage: buildProbe(() => bucket.check()),
  })
  let isAdmitted = false
  void waitForAccess(() => bucket.check(), { signal: draining.signal }).then(
    () => (isAdmitted = true),
    () => {},
  )
  const probes = buildProbeServer({
    registry: metrics.registry,
    findReasons: () =>
      findUnreadyReasons({
        isDraining: draining.signal.aborted,
        hasDownloadKeys: keyRing.isLoaded,
        hasSealingKey: sealingKey.isLoaded,
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
  keyRing.stop()
  sealingKey.stop()
  linkKey.stop()
  await spans?.stop()
  await Promise.all(reflectors.map((reflector) => reflector.stop()))
  await http.close()
  probes.close()
  log.info('shutdown completed')
  // A long download or a request that hangs must not keep the process alive.
  process.exit(0)
}

/** Loads the exporter only if a collector is configured. */
async function openSpans({ tracing: { endpoint, headers }, podName }: Config, log: Logger): Promise<SpanExporter | undefined> {
  if (endpoint === undefined) return undefined
  const { SpanExporter: Exporter } = await import('@tintype/crds/client/span-exporter')
  return new Exporter({
    endpoint,
    headers,
    log,
    resource: { 'service.name': 'tintype-api-gateway', 'service.version': API_VERSION, 'service.instance.id': podName },
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
