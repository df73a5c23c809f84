import type { LinkKey } from '@tintype/crds/crypto/api-keys'
import type { SealingKey } from '@tintype/crds/crypto/sealed'
import type { KeyRing } from '@tintype/crds/crypto/signatures'
import { Annotation } from '@tintype/crds/identifiers/names'
import type { Account, Plan } from '@tintype/crds/kinds/account'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import type { Screenshot, ScreenshotSpec } from '@tintype/crds/kinds/screenshot'
import type { PostResponse, Webhook } from '@tintype/crds/kinds/webhook'
import type { Whole } from '@tintype/crds/schema/custom-resource'
import type { EventSubject } from '@tintype/crds/schema/event-types'
import type { ObjectStorage } from '@tintype/crds/storage/port'
import type { DailyUsage, UsageFacts } from '@tintype/crds/usage/usage'
import type { RequestedPost } from '@tintype/crds/webhooks/webhook-requests'

// Interfaces between the routes and external systems. Every method that leaves the process throws ApiError SERVICE_UNAVAILABLE when the other side
// is unavailable.

/** A Screenshot that is not created yet. */
export interface NewScreenshot {
  metadata: { name: string; annotations?: Record<string, string> }
  spec: ScreenshotSpec
}

/** Screenshots in the Kubernetes API, read from an informer cache. */
export interface ScreenshotStore {
  /** Creates the object and adds it to the cache. A second create with the same name counts as a retry and returns the existing object. */
  create(screenshot: NewScreenshot): Promise<Screenshot>
  /**
   * By id, of any account. Reads from the API server when the cache does not have it, or lacks an option that the record shows. Never returns a
   * deleted one.
   */
  find(id: string): Promise<Screenshot | undefined>
  /** As {@link find}, but always reads from the API server, because the cache may lag behind another replica's response. */
  findLatest(id: string): Promise<Screenshot | undefined>
  /** Live screenshots of an account from the cache, newest first: at most `limit`, starting after the id `after`. */
  page(account: string, after: string | undefined, limit: number): Screenshot[]
  /** Live screenshots of a batch from the cache, in the order of their ids. */
  findLiveOfBatch(account: string, batchId: string): Screenshot[]
  /** As {@link find}, but only from the cache. */
  findLive(id: string): Screenshot | undefined
  /** Number of deliveries to a webhook that are still pending. `webhook` is the name in `status.deliveries`. */
  countOpenDeliveries(account: string, webhook: string): number
  /** True while creates must be rejected because too many finished screenshots are not archived. */
  isFull(): boolean
  /** Returns false when it no longer exists. */
  delete(screenshot: Screenshot): Promise<boolean>
  /** Resolves with the latest state when the capture has finished, after a timeout or an abort. Resolves with undefined when it is deleted. */
  waitUntilFinished(screenshot: Screenshot, milliseconds: number, signal: AbortSignal): Promise<Screenshot | undefined>
}

/** The queue of screenshots, or that of videos, which have other runners. */
export interface SubjectQueue {
  /** Running captures. */
  readonly running: number
  /** Undefined until a capture has been measured. */
  readonly meanCaptureMilliseconds: number | undefined
  /** Accounts with queued captures. */
  accounts(): string[]
  /** Number of queued captures of an account that can run. */
  waitingOf(account: string): number
}

/** The queue according to the informer cache. */
export interface QueueView {
  of(subject: EventSubject): SubjectQueue
  /** Accounts with queued screenshots or videos. */
  accounts(): string[]
  /** Number of queued screenshots and videos of an account that can run. */
  waitingOf(account: string): number
  /** True when the cache has a Screenshot with this id, in any phase. */
  has(id: string): boolean
  /** Number of queued captures of the same account and subject ahead of this one. Undefined when it is not queued. */
  countAhead(screenshot: Screenshot): number | undefined
  /** True while creates must be rejected because too many finished screenshots are not archived. */
  isBacklogged(): boolean
}

/** Files in the bucket. */
export type FileStore = Pick<ObjectStorage, 'stat' | 'open' | 'removePrefix'>

/** Small internal objects in the bucket. */
export type ObjectStore = Pick<ObjectStorage, 'read' | 'readText' | 'exists' | 'write' | 'remove' | 'list'>

/** Usage and limits of an account. `limit` is the quota plus the allowed overage. */
export interface LimitFacts extends UsageFacts {
  plan: Plan
  /** Screenshots per month in the plan. */
  quota: number
}

/** Result of {@link QuotaStore.reserve}. */
export interface Grant {
  /** Number of names that are charged, starting with the first. */
  granted: number
  /** Why not all of them are charged. The rate limit grants all or none. */
  refusal?: 'quota' | 'rate'
  facts: LimitFacts
}

export interface ReserveRequest {
  account: Account
  /** Repeating a known reservation does not charge again. */
  reservation: string
  /** Object names of 1 to 100 new Screenshots. Costs one request of the rate limit. */
  names: readonly string[]
  /** Units of quota for each name; absent: 1. */
  units?: number
  /** When the request was accepted. The UTC month of this time is charged. */
  at: Date
}

/** Quota and rate limits, exact across all replicas. */
export interface QuotaStore {
  /** Reserves quota. Does not throw when a limit is reached. @throws ApiError SERVICE_UNAVAILABLE, and then nothing stays charged */
  reserve(request: ReserveRequest): Promise<Grant>
  /** Call when the objects are known to exist. The next update removes the reservation. */
  settle(account: string, reservation: string): void
  /** Refunds objects that were certainly not created and never will be. */
  release(account: string, reservation: string, names: readonly string[]): Promise<void>
  /** From the informer cache. */
  facts(account: Account, now: Date): LimitFacts
  /** Units charged on each day. From the informer cache. */
  days(account: Account): DailyUsage
}

/** In which order records are read. Ids of older records are greater. */
export type ScanDirection = 'newest' | 'oldest'

/** Records that were moved from the Kubernetes API to the bucket, without deliveries. Deleted records are not included. */
export interface RecordArchive {
  find(account: string, id: string): Promise<Screenshot | undefined>
  /** Whether a record was deleted, live or archived. */
  isDeleted(account: string, id: string): Promise<boolean>
  /** Records after the id `after`, newest first by default. Reads from the bucket only as far as the caller iterates. */
  scan(account: string, after: string | undefined, order?: ScanDirection): AsyncIterable<Screenshot>
  put(account: string, screenshots: readonly Whole<Screenshot>[]): Promise<void>
  /** Writes a tombstone for a record, live or archived. */
  markDeleted(account: string, id: string): Promise<void>
  /** Writes a tombstone for an archived record, and the operator then removes its data. Returns false when it is not archived. */
  deleteArchived(account: string, id: string): Promise<boolean>
  putBatch(account: string, batchId: string, ids: readonly string[]): Promise<void>
  /** Ids of a batch, in the order of the request. */
  findBatch(account: string, batchId: string): Promise<readonly string[] | undefined>
}

/** Keys and their accounts. */
export interface KeyStore {
  /** Keys with this hash. Reads from the API server, with a rate limit, when the cache has none. */
  findByHash(hash: string): Promise<readonly ApiKey[]>
  /** By id. Reads from the API server, with a rate limit, when the cache does not have it, or only a version before the given generation. */
  findById(id: string, generation?: number): Promise<ApiKey | undefined>
  findAccount(name: string): Promise<Account | undefined>
  /** Records that a request was authenticated with the key. */
  recordUse(key: ApiKey, at: Date): void
  /** Ends the sessions of the web console that began up to this time. @throws ApiError SERVICE_UNAVAILABLE */
  endSessions(key: ApiKey, at: Date): Promise<void>
}

/** Objects that clients manage: keys, webhooks and schedules. */
export interface RecordStore<T extends { metadata: { leftOut?: Record<string, string> | undefined } }> {
  /** Objects of an account from the cache, oldest first. */
  ofAccount(account: string): readonly T[]
  /** The same, read from the API server. */
  latestOfAccount(account: string): Promise<readonly T[]>
  /** By id, of any account. Reads from the API server when the cache does not have it, or leaves something out. */
  find(id: string): Promise<Whole<T> | undefined>
  /** As {@link find}, but always reads from the API server. */
  findLatest(id: string): Promise<Whole<T> | undefined>
  /** A second create with the same name counts as a retry and returns the existing object. */
  create(object: Omit<T, 'metadata'> & { metadata: { name: string } }): Promise<T>
  /** @throws ApiError NOT_FOUND, or CONFLICT when there is a newer version than the given one */
  patch(object: T, patch: ObjectPatch): Promise<T>
  /** @throws ApiError as {@link patch} */
  delete(object: T): Promise<void>
}

/** Requests posts from the operator. The gateway itself does not post. */
export interface PostRequests {
  /** @throws ApiError NOT_FOUND, or SERVICE_UNAVAILABLE also when too many requests for the webhook are pending */
  ask(webhook: Webhook, post: RequestedPost): Promise<unknown>
  /** Resolves with the operator's response, or undefined after the timeout or an abort. @throws ApiError as {@link ask} */
  askAndWait(webhook: Webhook, post: RequestedPost, milliseconds: number, signal: AbortSignal): Promise<PostResponse | undefined>
}

/** Returns the current keys that sign download links. @throws ApiError when none are loaded yet */
export type KeyRingSource = () => KeyRing

/** Returns the current public key for sealing secrets. @throws ApiError when none is loaded yet */
export type SealingKeySource = () => SealingKey

/** The release key of link secrets. @throws ApiError SERVICE_UNAVAILABLE before it is loaded */
export type LinkKeySource = () => LinkKey

/** The state of the service over all accounts. */
export interface SystemView {
  /** @throws ApiError SERVICE_UNAVAILABLE */
  pools(): Promise<readonly RunnerPool[]>
  /** Every Screenshot in the Kubernetes API, from the informer cache. */
  screenshots(): readonly Screenshot[]
  /** From the informer cache. */
  findAccount: (name: string) => Account | undefined
}

/** A merge patch for an object. */
export interface ObjectPatch {
  metadata?: { labels?: Record<string, string | null>; annotations?: Record<string, string | null> }
  spec?: Record<string, unknown>
}

/** Metadata that records the time of a change. */
export const toUpdatedMetadata = (now: Date) => ({ annotations: { [Annotation.updatedAt]: now.toISOString() } })
