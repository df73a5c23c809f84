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
import { Downloads } from '../../../api-gateway/src/resources/files/downloads.ts'
import { KubeQueue } from '../../../api-gateway/src/resources/screenshots/store/kube-queue.ts'
import type {
  FileStore,
  Grant,
  KeyStore,
  LimitFacts,
  NewScreenshot,
  QuotaStore,
  ReserveRequest,
  ScreenshotStore,
} from '../../../api-gateway/src/store/ports.ts'
import { Store } from '../../../crds/client/lister.ts'
import type { Reflector, ReflectorEvent } from '../../../crds/client/reflector.ts'
import { DEFAULT_EGRESS_RULES } from '../../../crds/src/addresses/address-rules.ts'
import { keyHash, newKeyText } from '../../../crds/src/crypto/key-text.ts'
import { newLinkKey } from '../../../crds/src/crypto/link-secret.ts'
import { newOpeningKey, toSealingKey } from '../../../crds/src/crypto/sealed.ts'
import { apiKeyIdOf, newId, scheduleIdOf, screenshotIdOf, webhookIdOf } from '../../../crds/src/identifiers/ids.ts'
import { Label, toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { Account } from '../../../crds/src/kinds/account.ts'
import type { AccountUsage } from '../../../crds/src/kinds/account-usage.ts'
import type { ApiKey, ApiKeySpec } from '../../../crds/src/kinds/api-key.ts'
import { isFinished, type Phase, type Screenshot, type ScreenshotStatus } from '../../../crds/src/kinds/screenshot.ts'
import type { ScreenshotSchedule } from '../../../crds/src/kinds/screenshot-schedule.ts'
import type { Webhook } from '../../../crds/src/kinds/webhook.ts'
import type { CaptureOptions } from '../../../crds/src/options/catalog.ts'
import { DEFAULT_OPTION_POLICY } from '../../../crds/src/options/policy.ts'
import { accountOf } from '../../../crds/src/records/record.ts'
import { isWhole } from '../../../crds/src/schema/custom-resource.ts'
import { DEFAULT_PLANS, limitsOfPlan } from '../../../crds/src/usage/plans.ts'
import { toUsageFacts, UsageDraft } from '../../../crds/src/usage/usage.ts'
import type { StoredFile } from '../../../crds/storage/port.ts'
import { MemoryBucket } from '../../support/fakes/memory-bucket.ts'
import { findUndocumented } from '../../support/sources/documented.ts'
import { FakePostRequests } from './fake-post-requests.ts'
import { FakeRecords } from './fake-records.ts'
import { anObjectStore } from './fake-stores.ts'
import { callerOf } from './requests.ts'

// Builders, and stores in memory that keep the promises of store/ports.ts.

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

/** Screenshots by id. An informer cache has the same ones. */
class LiveScreenshots extends Map<string, Screenshot> {
  readonly lister = new Store<Screenshot>()
  readonly #listeners: ((event: ReflectorEvent<Screenshot>) => void)[] = []

  addListener(listener: (event: ReflectorEvent<Screenshot>) => void): void {
    this.#listeners.push(listener)
  }
  override set(id: string, object: Screenshot): this {
    const old = this.lister.set(object)
    const event = { type: old ? 'modified' : 'added', object, old, source: 'watch' } as ReflectorEvent<Screenshot>
    for (const listener of this.#listeners) listener(event)
    return super.set(id, object)
  }
  override delete(id: string): boolean {
    this.lister.delete(`default/${toObjectName(id)}`)
    return super.delete(id)
  }
  override clear(): void {
    for (const id of this.keys()) this.delete(id)
  }
}

export class FakeScreenshots implements ScreenshotStore {
  readonly objects = new LiveScreenshots()
  #changed: (() => void)[] = []
  #version = 1

  get specs(): Screenshot['spec'][] {
    return [...this.objects.values()].map(({ spec }) => spec)
  }
  async create({ metadata: given, spec }: NewScreenshot): Promise<Screenshot> {
    return this.put({ metadata: { ...metadata(given.name), ...given }, spec, status: { phase: 'Pending' } })
  }
  put(screenshot: Screenshot): Screenshot {
    const stored = { ...screenshot, metadata: { ...screenshot.metadata, resourceVersion: String(++this.#version) } }
    this.objects.set(screenshotIdOf(stored.metadata), stored)
    this.#wake()
    return stored
  }
  async find(id: string): Promise<Screenshot | undefined> {
    return this.objects.get(id)
  }
  async findLatest(id: string): Promise<Screenshot | undefined> {
    return this.objects.get(id)
  }
  page(account: string, after: string | undefined, limit: number): Screenshot[] {
    const mine = [...this.objects.entries()].filter(([id, shot]) => accountOf(shot) === account && (after === undefined || id > after))
    return mine
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, limit)
      .map(([, shot]) => shot)
  }
  findLiveOfBatch(account: string, batchId: string): Screenshot[] {
    return this.page(account, undefined, 100).filter(({ spec }) => spec.batchId === batchId)
  }
  findLive(id: string): Screenshot | undefined {
    return this.objects.get(id)
  }
  /** By account and webhook. */
  readonly openDeliveries = new Map<string, number>()
  countOpenDeliveries(account: string, webhook: string): number {
    return this.openDeliveries.get(`${account}/${webhook}`) ?? 0
  }
  isQueueFull = false
  isFull(): boolean {
    return this.isQueueFull
  }
  /** What a gateway sees of the queue in them. */
  readonly queue = new KubeQueue(this.objects as unknown as Reflector<Screenshot>, 'default', () => this.isQueueFull)
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
    this.objects.delete(id)
  }
  async delete(screenshot: Screenshot): Promise<boolean> {
    const was = this.objects.delete(screenshotIdOf(screenshot.metadata))
    this.#wake()
    return was
  }
  async waitUntilFinished(screenshot: Screenshot, milliseconds: number, signal: AbortSignal): Promise<Screenshot | undefined> {
    const id = screenshotIdOf(screenshot.metadata)
    const ended = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      // Longer waits than those of requests must not keep the process alive.
      if (milliseconds > 60_000) timer.unref()
      const look = () => {
        const shot = this.objects.get(id)
        if (shot !== undefined && !isFinished(shot) && !signal.aborted) return
        clearTimeout(timer)
        resolve()
      }
      this.#changed.push(look)
      signal.addEventListener('abort', look)
      look()
    })
    await ended
    return this.objects.get(id)
  }
  #wake(): void {
    for (const look of this.#changed) look()
  }
}

/** The queue in these Screenshots, with the bounds of the chart unless others are given. */
export const aQueue = (
  screenshots: FakeScreenshots,
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

/** The archive of records, in a bucket of its own. */
export function anArchive() {
  const bucket = new MemoryBucket()
  const keyRing = () => ({ current: 'a', keys: { a: 'c2VjcmV0' } })
  const archive = new BucketArchive(bucket.store, { keyRing, now: () => new Date(NOW.getTime() + 86_400_000) })
  const add = (screenshots: readonly Screenshot[]) => archive.put('acme', screenshots.filter(isWhole))
  return Object.assign(archive, { bucket, add })
}

export class FakeKeys implements KeyStore {
  readonly keys: ApiKey[] = []
  readonly accounts = new Map<string, Account>()
  readonly uses = new Map<string, Date>()
  async findByHash(hash: string): Promise<ApiKey[]> {
    return this.keys.filter(({ metadata: { labels } }) => labels?.[Label.keyHash1] === hash || labels?.[Label.keyHash2] === hash)
  }
  /** A key that the cache still has, although a newer one was written. */
  cached: ApiKey | undefined
  async findById(id: string, generation = 0): Promise<ApiKey | undefined> {
    if (this.cached && (this.cached.metadata.generation ?? 0) >= generation) return this.cached
    return this.keys.find(({ metadata }) => apiKeyIdOf(metadata) === id)
  }
  async findAccount(name: string): Promise<Account | undefined> {
    return this.accounts.get(name)
  }
  recordUse({ metadata: { name } }: ApiKey, at: Date): void {
    this.uses.set(name, at)
  }
  async endSessions(key: ApiKey, at: Date): Promise<void> {
    key.status = { ...key.status, sessionsNotBefore: at.toISOString() }
  }
}

/** Release key of link secrets. */
export const LINK_KEY = newLinkKey()
/** Opens what the fake gateways have sealed. */
export const OPENING_KEY = newOpeningKey('fake')

/** Keeps the promises of quota and rate for accounts whose limits were not set: none. */
export class FakeQuota implements QuotaStore {
  readonly usages = new Map<string, AccountUsage>()
  readonly settled: string[] = []
  set(account: string, spec: AccountUsage['spec'], status?: AccountUsage['status']): void {
    this.usages.set(account, { metadata: metadata(account), spec, ...(status ? { status } : {}) })
  }
  /** Units that acme has used. */
  get used(): number {
    return this.usages.get('acme')?.status?.used ?? 0
  }
  /** What acme may use. A rate that is used up has room again when there is none. */
  bound({ limit = 1_000, isRateUsedUp = false }: { limit?: number; isRateUsedUp?: boolean }): void {
    this.set('acme', { limit, ...(isRateUsedUp ? { ratePerMinute: 0 } : {}) }, this.usages.get('acme')?.status)
  }
  #usageOf(account: string): AccountUsage {
    return this.usages.get(account) ?? { metadata: metadata(account), spec: { limit: 1_000_000 } }
  }
  async reserve({ account, reservation, names, units, at }: ReserveRequest): Promise<Grant> {
    const { name } = account.metadata
    const usage = this.#usageOf(name)
    const draft = new UsageDraft(usage, at)
    const { granted, refusal } = draft.reserve({ id: reservation, names, units, at, gateway: 'fake', countsForRate: true })
    this.set(name, usage.spec, draft.toStatus())
    const facts = this.facts(account, at)
    return refusal === 'quota' || refusal === 'rate' ? { granted, refusal, facts } : { granted, facts }
  }
  settle(_account: string, reservation: string): void {
    this.settled.push(reservation)
  }
  async release(account: string, reservation: string, names: readonly string[]): Promise<void> {
    const usage = this.#usageOf(account)
    const draft = new UsageDraft(usage, NOW)
    draft.release(reservation, names, 'fake')
    this.set(account, usage.spec, draft.toStatus())
  }
  days({ metadata: { name } }: Account) {
    return this.#usageOf(name).status?.days ?? {}
  }
  facts({ metadata: { name }, spec: { plan } }: Account, now: Date): LimitFacts {
    return { ...toUsageFacts(this.#usageOf(name), now), plan, quota: limitsOfPlan(DEFAULT_PLANS, plan).monthlyQuota }
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
export async function listen(t: Pick<Test, 'teardown'>, app: FastifyInstance): Promise<number> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => {
    app.server.closeAllConnections()
    return app.close()
  })
  return (app.server.address() as AddressInfo).port
}

/** A gateway over stores in memory, with one account and one key of it. */
export function aGateway(changes: Partial<Deps> = {}) {
  const screenshots = new FakeScreenshots()
  const files = new FakeFiles()
  const keys = new FakeKeys()
  const [objects, quota, archive] = [anObjectStore(), new FakeQuota(), anArchive()]
  const apiKeys = new FakeRecords<ApiKey>(keys.keys, apiKeyIdOf, NOW)
  const webhooks = new FakeRecords<Webhook>([], webhookIdOf, NOW)
  const schedules = new FakeRecords<ScreenshotSchedule>([], scheduleIdOf, NOW)
  const postRequests = new FakePostRequests()
  const key = newKeyText()
  const draining = new AbortController()
  keys.keys.push(anApiKey(key, { accountName: 'acme' }))
  keys.accounts.set('acme', { metadata: metadata('acme'), spec: { plan: 'scale' } })
  const health = async () => ({ status: 'operational' as const, response_time_ms: 1 })
  const secret = randomBytes(32).toString('base64')
  const ring = { current: 'a', keys: { a: secret } }
  const keyRing = () => ring
  const metrics = buildMetrics()
  const bodyBudget = new BodyBudget({ maxBytes: MIN_BODY_BUDGET_BYTES, onRefuse: () => {} })
  const app = buildApp({
    screenshots,
    queue: aQueue(screenshots, {}, (name) => keys.accounts.get(name)),
    uncertainCreates: { add: async () => undefined },
    plans: DEFAULT_PLANS,
    files,
    keys,
    quota,
    archive,
    objects,
    report: () => {},
    idempotency: new Idempotency({ objects, keyRing, now: changes.now ?? (() => NOW) }),
    downloads: new Downloads({ max: 2, metrics, now: () => performance.now() }),
    system: { pools: async () => [], screenshots: () => [...screenshots.objects.values()], findAccount: (name) => keys.accounts.get(name) },
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
    storeOrigin: undefined,
    trustedProxies: [],
    callsPerMinute: { read: 6_000, management: 600, link: 60_000 },
    linkCacheBytes: 1_000_000,
    bodyBudget,
    egress: { ...DEFAULT_EGRESS_RULES, allowedHosts: ['*'] },
    draining: draining.signal,
    database: health,
    storage: health,
    now: () => NOW,
    startedAt: new Date(NOW.getTime() - 5_000),
    ...changes,
  })
  compareWithDocument(app)
  const headers = { authorization: `Bearer ${key}` }
  /** Adds a key of the account, or of another one. Returns it with the header of its requests. */
  const addKey = (spec: ApiKeySpec = {}) => {
    const text = newKeyText()
    const added = anApiKey(text, { accountName: 'acme', ...spec }, `key-${keys.keys.length + 1}`)
    keys.keys.push(added)
    return { key: added, id: apiKeyIdOf(added.metadata), text, headers: { authorization: `Bearer ${text}` } }
  }
  return {
    app,
    call: callerOf(app, headers),
    addKey,
    bodyBudget,
    screenshots,
    files,
    keys,
    key,
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
