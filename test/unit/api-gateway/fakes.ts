import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { buildApp, type Deps } from '../../../api-gateway/src/app.ts'
import { BucketArchive } from '../../../api-gateway/src/archive/bucket-archive.ts'
import { BodyBudget, MIN_BODY_BUDGET_BYTES } from '../../../api-gateway/src/bodies/budget.ts'
import { Idempotency } from '../../../api-gateway/src/creation/idempotency.ts'
import { Queue, type QueueOptions } from '../../../api-gateway/src/creation/queue.ts'
import type { QueueBounds } from '../../../api-gateway/src/creation/queue-rules.ts'
import { buildMetrics } from '../../../api-gateway/src/metrics/metrics.ts'
import type { GatewayLease } from '../../../api-gateway/src/quota/gateway-lease.ts'
import { KubeQuota } from '../../../api-gateway/src/quota/kube-quota.ts'
import { Downloads } from '../../../api-gateway/src/resources/files/downloads.ts'
import { KubeKeys } from '../../../api-gateway/src/resources/keys/kube-keys.ts'
import { KubeQueue } from '../../../api-gateway/src/resources/screenshots/store/kube-queue.ts'
import { KubeScreenshots } from '../../../api-gateway/src/resources/screenshots/store/kube-screenshots.ts'
import { KubeSystem } from '../../../api-gateway/src/resources/system/kube-system.ts'
import { KubeRecords } from '../../../api-gateway/src/store/kube-records.ts'
import type { FileStore, ObjectPatch, PostRequests } from '../../../api-gateway/src/store/ports.ts'
import * as kinds from '../../../crds/client/kinds.ts'
import { silentLog } from '../../../crds/client/log.ts'
import { Reflector } from '../../../crds/client/reflector.ts'
import { DEFAULT_EGRESS_RULES } from '../../../crds/src/addresses/address-rules.ts'
import { keyHash, newKeyText, newLinkKey } from '../../../crds/src/crypto/api-keys.ts'
import { newOpeningKey, toSealingKey } from '../../../crds/src/crypto/sealed.ts'
import { apiKeyIdOf, newId, scheduleIdOf, screenshotIdOf, webhookIdOf } from '../../../crds/src/identifiers/ids.ts'
import { isApiKeyIdName, isScheduleIdName, isWebhookIdName, Label } from '../../../crds/src/identifiers/names.ts'
import type { Account, AccountUsage } from '../../../crds/src/kinds/account.ts'
import type { ApiKey, ApiKeySpec } from '../../../crds/src/kinds/api-key.ts'
import type { Phase, Screenshot, ScreenshotStatus } from '../../../crds/src/kinds/screenshot.ts'
import type { ScreenshotSchedule } from '../../../crds/src/kinds/screenshot-schedule.ts'
import type { PostResponse, Webhook } from '../../../crds/src/kinds/webhook.ts'
import type { CaptureOptions } from '../../../crds/src/options/catalog.ts'
import { DEFAULT_OPTION_POLICY } from '../../../crds/src/options/policy.ts'
import { isWhole, type Metadata } from '../../../crds/src/schema/custom-resource.ts'
import { DEFAULT_PLANS } from '../../../crds/src/usage/plans.ts'
import { monthOf } from '../../../crds/src/usage/usage.ts'
import type { RequestedPost } from '../../../crds/src/webhooks/webhook-requests.ts'
import type { StoredFile } from '../../../crds/storage/port.ts'
import { MemoryBucket } from '../../support/fakes/memory-bucket.ts'
import { MemoryCluster } from '../../support/fakes/memory-cluster.ts'
import { findUndocumented } from '../../support/sources/documented.ts'
import { callerOf } from './requests.ts'

// Builders, and gateways over an API server and a bucket in memory. No watch updates the caches of a gateway: it knows what it and its test write.

export const NOW = new Date('2026-11-21T10:20:30.456Z')
export const SCREENSHOT_ID = newId('scr', NOW, Buffer.alloc(10, 7))

const metadata = (name: string) => ({
  name,
  namespace: 'default',
  uid: `uid-of-${name}`,
  resourceVersion: '1',
  creationTimestamp: NOW.toISOString(),
})

interface Shot {
  id?: string
  url?: string
  accountName?: string
  options?: CaptureOptions
  phase?: Phase
  status?: ScreenshotStatus
}

export function aScreenshot({
  id = SCREENSHOT_ID,
  url = 'https://example.com/',
  accountName = 'acme',
  options,
  phase = 'Pending',
  status,
}: Shot): Screenshot {
  const spec = { url, accountName, ...(options ? { options } : {}) }
  return { metadata: metadata(id.replace('_', '-')), spec, status: { phase, ...status } }
}

export const anApiKey = (text: string, spec: ApiKeySpec, name = 'key-1'): ApiKey => ({
  metadata: { ...metadata(name), labels: { [Label.keyHash1]: keyHash(text) } },
  spec,
})

/** An API server whose clock stands still. */
export const aCluster = () => new MemoryCluster({ now: () => NOW })

/** The Screenshots of a gateway. */
export class TestScreenshots extends KubeScreenshots {
  readonly #cluster: MemoryCluster
  /** What a gateway sees of the queue in them. */
  readonly queue: KubeQueue
  isQueueFull = false

  constructor(cluster = aCluster()) {
    super({ http: cluster.http, log: silentLog, metrics: {} })
    this.#cluster = cluster
    this.queue = new KubeQueue(this.reflector, cluster.namespace, () => this.isQueueFull)
  }
  /** As the API server has them, by id. */
  get objects(): ReadonlyMap<string, Screenshot> {
    return new Map(this.#cluster.list(kinds.screenshots).map((shot) => [screenshotIdOf(shot.metadata), shot]))
  }
  get specs(): Screenshot['spec'][] {
    return [...this.objects.values()].map(({ spec }) => spec)
  }
  override isFull(): boolean {
    return this.isQueueFull
  }
  /** Stores a Screenshot as another client writes it. */
  put(screenshot: Screenshot): Screenshot {
    const stored = this.#cluster.put(kinds.screenshots, screenshot)
    this.reflector.noteWritten(stored)
    return stored
  }
  /** Removes Screenshots as another client does. Default: all. */
  remove(...ids: string[]): void {
    for (const [id, screenshot] of this.objects) {
      if (ids.length > 0 && !ids.includes(id)) continue
      this.#cluster.remove(kinds.screenshots, screenshot.metadata.name)
      this.reflector.noteDeleted(screenshot)
    }
  }
  /** Ends a capture that took so many milliseconds, and removes it. */
  measure(milliseconds: number, options?: CaptureOptions): void {
    const [startTime, completionTime] = [NOW, new Date(NOW.getTime() + milliseconds)].map((time) => time.toISOString())
    const id = newId('scr', NOW)
    this.put(
      aScreenshot({
        id,
        accountName: 'measured',
        phase: 'Completed',
        status: { startTime, completionTime },
        ...(options ? { options } : {}),
      }),
    )
    this.remove(id)
  }
}

/** The queue in these Screenshots, with the bounds of the chart unless others are given. */
export const aQueue = (
  screenshots: TestScreenshots,
  bounds: Partial<QueueBounds> = {},
  findAccount: QueueOptions['findAccount'] = () => undefined,
) =>
  new Queue({
    view: screenshots.queue,
    bounds: { maxQueued: 10_000, maxQueuedPerAccount: 1_000, ...bounds },
    plans: DEFAULT_PLANS,
    findAccount,
  })

export class FakeFiles implements FileStore {
  readonly objects = new Map<string, Buffer>()
  async stat(key: string): Promise<StoredFile | undefined> {
    const bytes = this.objects.get(key)
    return bytes && { sizeBytes: bytes.length, etag: 'abc', lastModified: NOW }
  }
  async open(key: string, range: { start: number; end: number } | undefined): Promise<Readable> {
    const bytes = this.objects.get(key) ?? Buffer.alloc(0)
    return Readable.from([range ? bytes.subarray(range.start, range.end + 1) : bytes])
  }
  async removePrefix(prefix: string): Promise<void> {
    for (const key of this.objects.keys()) if (key.startsWith(prefix)) this.objects.delete(key)
  }
}

/** Objects of a bucket, as gateways see it. Tests replace single methods to make it fail. */
export function anObjectStore() {
  const bucket = new MemoryBucket()
  const stat = async (key: string): Promise<StoredFile | undefined> => {
    const etag = bucket.etagOf(key)
    return etag === undefined ? undefined : { sizeBytes: Buffer.byteLength(bucket.objects.get(key)!), etag, lastModified: new Date(0) }
  }
  return { ...bucket.store, stat, objects: bucket.objects }
}

/** The archive of records, in a bucket of its own. */
export function anArchive() {
  const bucket = new MemoryBucket()
  const keyRing = () => ({ current: 'a', keys: { a: 'c2VjcmV0' } })
  const archive = new BucketArchive(bucket.store, { keyRing, now: () => new Date(NOW.getTime() + 86_400_000) })
  const add = (screenshots: readonly Screenshot[]) => archive.put('acme', screenshots.filter(isWhole))
  return Object.assign(archive, { bucket, add })
}

/** The keys and accounts with which a gateway authenticates requests. */
export class TestKeys extends KubeKeys {
  /** Times of uses, by the name of the key. */
  readonly noted = new Map<string, Date>()

  constructor(cluster: MemoryCluster) {
    super({ http: cluster.http, log: silentLog, metrics: {} })
  }
  override recordUse({ metadata: { name } }: ApiKey, at: Date): void {
    this.noted.set(name, at)
  }
}

/** The keys, webhooks or schedules of a gateway. */
export class TestRecords<T extends ApiKey | Webhook | ScreenshotSchedule> extends KubeRecords<T> {
  readonly #cluster: MemoryCluster
  /** Called before the gateway patches an object: another writer. */
  beforePatch: () => unknown = () => {}

  constructor(cluster: MemoryCluster, options: Omit<ConstructorParameters<typeof KubeRecords<T>>[0], 'http' | 'what'>) {
    super({ http: cluster.http, what: 'record', ...options })
    this.#cluster = cluster
  }
  /** As the API server has them, in the order of their creation. */
  get objects(): T[] {
    return this.#cluster.list(this.reflector.resource)
  }
  /** Stores an object as another client writes it. */
  put(object: T): T {
    const stored = this.#cluster.put(this.reflector.resource, object)
    this.reflector.noteWritten(stored)
    return stored
  }
  /** Changes an object in this way. Default: the newest one. */
  change(change: (object: T) => unknown, index = -1): T {
    const object = this.objects.at(index)!
    change(object)
    return this.put(object)
  }
  /** Removes an object as another client does. */
  remove(object: T): void {
    this.#cluster.remove(this.reflector.resource, object.metadata.name)
    this.reflector.noteDeleted(object)
  }
  override async patch(object: T, patch: ObjectPatch): Promise<T> {
    await this.beforePatch()
    return super.patch(object, patch)
  }
}

/** Release key of link secrets. */
export const LINK_KEY = newLinkKey()
/** Opens what the fake gateways have sealed. */
export const OPENING_KEY = newOpeningKey('fake')

/** The quota of accounts. That of acme has no limit which tests reach. */
export class TestQuota extends KubeQuota {
  readonly #cluster: MemoryCluster
  readonly settled: string[] = []

  constructor(cluster = aCluster(), now = () => NOW) {
    const lease = { isHeld: true, identity: 'fake' } as GatewayLease
    const metrics = { onReservation() {}, onCommit() {}, onConflict() {} }
    super({ http: cluster.http, log: silentLog, reflectorMetrics: {}, metrics, plans: DEFAULT_PLANS, lease, now })
    this.#cluster = cluster
    this.set('acme', { limit: 1_000_000 })
  }
  set(account: string, spec: AccountUsage['spec'], status: AccountUsage['status'] = { period: monthOf(NOW), used: 0 }): void {
    this.#cluster.put(kinds.accountUsages, { metadata: metadata(account), spec, status })
    this.reflector.noteWritten(this.#cluster.get(kinds.accountUsages, account)!)
  }
  /** What acme has used. */
  get usage(): NonNullable<AccountUsage['status']> {
    return this.#cluster.get(kinds.accountUsages, 'acme')!.status!
  }
  get used(): number {
    return this.usage.used ?? 0
  }
  /** What acme may use. A rate that is used up has room again when there is none. */
  bound({ limit = 1_000, isRateUsedUp = false }: { limit?: number; isRateUsedUp?: boolean }): void {
    this.set('acme', { limit, ...(isRateUsedUp ? { ratePerMinute: 0 } : {}) }, this.usage)
  }
  override settle(account: string, reservation: string): void {
    this.settled.push(reservation)
    super.settle(account, reservation)
  }
}

/** An operator that records requests for posts and returns the response that the test sets. Without one it is unavailable. */
class FakePostRequests implements PostRequests {
  readonly posts: { webhook: string; post: RequestedPost }[] = []
  response: PostResponse | undefined

  async ask({ metadata }: Webhook, post: RequestedPost): Promise<void> {
    this.posts.push({ webhook: metadata.name, post })
  }
  async askAndWait(webhook: Webhook, post: RequestedPost): Promise<PostResponse | undefined> {
    await this.ask(webhook, post)
    return this.response
  }
}

/** Statuses that belong to no operation: a wrong method, and a client that closed the connection. */
const UNCHECKED = [405, 499]

/** Fails the test that runs when a response to one of its requests differs from the OpenAPI document. */
function compareWithDocument(app: FastifyInstance): void {
  app.addHook('onSend', async ({ method, url }, { statusCode }, payload) => {
    if (UNCHECKED.includes(statusCode)) return
    const isJson = typeof payload === 'string' && payload.startsWith('{')
    const [path = ''] = url.split('?')
    const undocumented = findUndocumented({ method, path, status: statusCode, body: isJson ? JSON.parse(payload) : undefined })
    if (undocumented !== undefined) t.fail(undocumented)
  })
}

/** Lets a gateway listen until the test ends. Returns its port. */
export async function serveGateway(t: Pick<Test, 'teardown'>, app: FastifyInstance): Promise<number> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => {
    app.server.closeAllConnections()
    return app.close()
  })
  return (app.server.address() as AddressInfo).port
}

/** A gateway with one account and one key of it. */
export function aGateway(changes: Partial<Deps> = {}) {
  const cluster = aCluster()
  const { http } = cluster
  const screenshots = new TestScreenshots(cluster)
  const files = new FakeFiles()
  const keys = new TestKeys(cluster)
  const now = changes.now ?? (() => NOW)
  const [objects, quota, archive] = [anObjectStore(), new TestQuota(cluster, now), anArchive()]
  const apiKeys = new TestRecords<ApiKey>(cluster, { reflector: keys.keys, idOf: apiKeyIdOf, isIdName: isApiKeyIdName })
  const webhookReflector = new Reflector({ http, resource: kinds.webhooks })
  const webhooks = new TestRecords<Webhook>(cluster, { reflector: webhookReflector, idOf: webhookIdOf, isIdName: isWebhookIdName })
  const scheduleReflector = new Reflector({ http, resource: kinds.screenshotSchedules })
  const schedules = new TestRecords<ScreenshotSchedule>(cluster, {
    reflector: scheduleReflector,
    idOf: scheduleIdOf,
    isIdName: isScheduleIdName,
  })
  const postRequests = new FakePostRequests()
  const draining = new AbortController()
  // Requests that are held, and captures of links, must not keep the process alive.
  t.teardown(() => draining.abort())
  /** Stores an account as an administrator writes it. */
  const putAccount = (spec: Partial<Account['spec']> = {}, given: Partial<Metadata> = {}) => {
    const own = { ...metadata(given.name ?? 'acme'), ...given }
    keys.accounts.noteWritten(cluster.put(kinds.accounts, { metadata: own, spec: { plan: 'scale', ...spec } }))
  }
  putAccount()
  const findAccount = keys.findCachedAccount
  const health = async () => ({ status: 'operational' as const, response_time_ms: 1 })
  const secret = randomBytes(32).toString('base64')
  const ring = { current: 'a', keys: { a: secret } }
  const keyRing = () => ring
  const metrics = buildMetrics()
  const bodyBudget = new BodyBudget({ maxBytes: MIN_BODY_BUDGET_BYTES, onRefuse: () => {} })
  const app = buildApp({
    screenshots,
    queue: aQueue(screenshots, {}, findAccount),
    uncertainCreates: { add: async () => undefined },
    plans: DEFAULT_PLANS,
    files,
    keys,
    quota,
    archive,
    objects,
    report: () => {},
    idempotency: new Idempotency({ objects, keyRing, now }),
    downloads: new Downloads({ max: 2, metrics, now: () => performance.now() }),
    system: new KubeSystem({ http, screenshots: screenshots.reflector, findAccount }),
    metrics,
    log: Fastify({ logger: { level: 'silent' } }).log,
    keyRing,
    apiKeys,
    webhooks,
    schedules,
    postRequests,
    webhookRules: DEFAULT_EGRESS_RULES,
    optionPolicy: DEFAULT_OPTION_POLICY,
    thumbnailWidth: 0,
    maxKeys: 5,
    maxWebhooks: 3,
    maxSchedules: 3,
    sealingKey: () => toSealingKey(OPENING_KEY),
    linkKey: () => LINK_KEY,
    publicUrl: 'https://shots.example',
    corsOrigins: [],
    hasMcp: true,
    storeOrigin: undefined,
    trustedProxies: [],
    callsPerMinute: { read: 6_000, management: 600, link: 60_000 },
    linkCacheBytes: 1_000_000,
    bodyBudget,
    egress: { ...DEFAULT_EGRESS_RULES, allowedHosts: ['*'] },
    draining: draining.signal,
    database: health,
    storage: health,
    now,
    startedAt: new Date(NOW.getTime() - 5_000),
    ...changes,
  })
  compareWithDocument(app)
  /** Adds a key of the account, or of another one. Returns it with the header of its requests. */
  const addKey = (spec: ApiKeySpec = {}, given: Partial<Metadata> = {}) => {
    const text = newKeyText()
    const made = anApiKey(text, { accountName: 'acme', ...spec }, `key-${apiKeys.objects.length + 1}`)
    const key = apiKeys.put({ ...made, metadata: { ...made.metadata, ...given } })
    return { key, id: apiKeyIdOf(key.metadata), text, headers: { authorization: `Bearer ${text}` } }
  }
  const { text: key, id: keyId, headers } = addKey()
  return {
    app,
    call: callerOf(app, headers),
    cluster,
    putAccount,
    addKey,
    bodyBudget,
    screenshots,
    files,
    keys,
    key,
    keyId,
    headers,
    draining,
    objects,
    quota,
    archive,
    apiKeys,
    webhooks,
    schedules,
    postRequests,
  }
}
