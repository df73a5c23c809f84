import type { KeyRing } from '@tintype/crds/download-link'
import type { Account } from '@tintype/crds/kinds/account'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { PostAnswer } from '@tintype/crds/post-answer'
import type { SealingKey } from '@tintype/crds/sealed'
import type { ObjectStorage } from '@tintype/crds/storage/port'
import type { PostRequest } from '@tintype/crds/webhook-requests'
import type { LimitFacts } from '../translate/account/usage.ts'
import type { ObjectPatch } from '../translate/common/object-patch.ts'
import type { NewScreenshot } from '../translate/screenshots/screenshot.ts'
import type { ComponentHealth } from '../translate/service/service-status.ts'

// What the routes need of the world. Every method that leaves the process throws ApiError: SERVICE_UNAVAILABLE when the other side is
// away.

/** Screenshots that live in the Kubernetes API, read from a copy in memory. */
export interface ScreenshotStore {
  /** Creates it and sees it at once. The same name twice is the same creation, repeated after an unknown outcome. */
  create(screenshot: NewScreenshot): Promise<Screenshot>
  /** By id, of whatever account; asks the API server once when the copy does not have it. Never a deleted one. */
  find(id: string): Promise<Screenshot | undefined>
  /** As {@link find}, but as the API server has it now: this replica's copy may be a moment behind another's answer. */
  findLatest(id: string): Promise<Screenshot | undefined>
  /** Live ones of an account, newest first, from the copy: at most `limit` after the one with the id `after`. */
  page(account: string, after: string | undefined, limit: number): Screenshot[]
  /** Live ones of a batch, from the copy, in the order of their ids. */
  findLiveOfBatch(account: string, batchId: string): Screenshot[]
  /** As {@link find}, from the copy alone. */
  findLive(id: string): Screenshot | undefined
  /** Deliveries to one webhook that await another attempt; `webhook` is what the ledger calls it. */
  countOpenDeliveries(account: string, webhook: string): number
  /** True while so much is finished and not archived that nothing more may be created. */
  isFull(): boolean
  /** False when it was gone already. */
  delete(screenshot: Screenshot): Promise<boolean>
  /** Its latest state as soon as it has ended; also when time is up, the signal aborts, or it is deleted (undefined). */
  waitUntilFinished(screenshot: Screenshot, milliseconds: number, signal: AbortSignal): Promise<Screenshot | undefined>
}

/** What waits for a runner, from the copy. */
export interface QueueView {
  /** Captures under way. */
  readonly running: number
  /** Undefined until one has been measured. */
  readonly meanCaptureMilliseconds: number | undefined
  /** Accounts that have something waiting. */
  accounts(): string[]
  /** Screenshots of an account that wait and can run. */
  waitingOf(account: string): number
  /** Whether a Screenshot of that id is known, whatever it does. */
  has(id: string): boolean
  /** How many of its own account are ahead of a Screenshot; undefined when it does not wait. */
  countAhead(screenshot: Screenshot): number | undefined
  /** True while so much is finished and not archived that nothing more may be created. */
  isBacklogged(): boolean
}

/** Files in the bucket. */
export type FileStore = Pick<ObjectStorage, 'stat' | 'open' | 'mark' | 'removePrefix'>

/** Small objects of ours in the bucket. */
export type ObjectStore = Pick<ObjectStorage, 'read' | 'write' | 'remove' | 'list'>

/** What {@link QuotaStore.reserve} answers. */
export interface Grant {
  /** Of the names asked for, how many are paid, from the first on. */
  granted: number
  /** Why not all of them. A refusal by rate grants none. */
  refusal?: 'quota' | 'rate'
  facts: LimitFacts
}

export interface ReserveRequest {
  account: Account
  /** Repeating a reservation that is known charges nothing again. */
  reservation: string
  /** Object names of the Screenshots to come: 1 to 100. Costs one request of the rate, and a unit of quota each. */
  names: readonly string[]
  /** Acceptance: its UTC month is charged. */
  at: Date
}

/** Quota and rate, exact over all replicas. */
export interface QuotaStore {
  /** Refusals are answers. @throws ApiError SERVICE_UNAVAILABLE when it cannot be said; then nothing stays charged */
  reserve(request: ReserveRequest): Promise<Grant>
  /** The objects exist (read back or created by us): the reservation is dropped with the next update. */
  settle(account: string, reservation: string): void
  /** These objects were surely not created and never will be: their units go back. */
  giveBack(account: string, reservation: string, names: readonly string[]): Promise<void>
  /** From the copy in memory. */
  facts(account: Account, now: Date): LimitFacts
}

/** In which order records are read. An id grows as its record gets older. */
export type ScanDirection = 'newest' | 'oldest'

/** Records that have left the Kubernetes API, as Screenshots without deliveries. What {@link deleteArchived} was called for is not in it. */
export interface RecordArchive {
  find(account: string, id: string): Promise<Screenshot | undefined>
  /** Newest first, if not said otherwise, from the one after the id `after`; read from the bucket as far as it is iterated. */
  scan(account: string, after: string | undefined, order?: ScanDirection): AsyncIterable<Screenshot>
  put(account: string, screenshots: readonly Screenshot[]): Promise<void>
  /** Marks a record as deleted, for ever, wherever it is. */
  markDeleted(account: string, id: string): Promise<void>
  /** Marks an archived record as deleted, for ever; its text is removed by the operator. False when there is no such text. */
  deleteArchived(account: string, id: string): Promise<boolean>
  putBatch(account: string, batchId: string, ids: readonly string[]): Promise<void>
  /** Ids of a batch in the order of its creation. */
  findBatch(account: string, batchId: string): Promise<readonly string[] | undefined>
}

/** Keys and their accounts. */
export interface KeyStore {
  /** Keys that answer to the hash; asks the API server, within bounds, when the copy has none. */
  findByHash(hash: string): Promise<readonly ApiKey[]>
  findAccount(name: string): Promise<Account | undefined>
  /** A request was let in with it. */
  noteUse(key: ApiKey, at: Date): void
}

/** What clients manage by themselves: keys and webhooks. */
export interface RecordStore<T> {
  /** Of an account, oldest first, from the copy. */
  ofAccount(account: string): readonly T[]
  /** The same as the API server has them now. */
  latestOfAccount(account: string): Promise<readonly T[]>
  /** By id, of whatever account; asks the API server once when the copy does not have it. */
  find(id: string): Promise<T | undefined>
  /** As {@link find}, but as the API server has it now. */
  findLatest(id: string): Promise<T | undefined>
  /** The same name twice is the same creation, repeated after an unknown outcome. */
  create(object: Omit<T, 'metadata'> & { metadata: { name: string } }): Promise<T>
  /** @throws ApiError NOT_FOUND; CONFLICT when there is a newer version than the one given */
  patch(object: T, patch: ObjectPatch): Promise<T>
  /** @throws ApiError as {@link patch} */
  delete(object: T): Promise<void>
}

/** A post that the gateway asks for. */
export type RequestedPost = Exclude<PostRequest, { do: 'testByHand' }>

/** Asks the operator for posts: the gateway makes none. */
export interface PostRequests {
  /** @throws ApiError NOT_FOUND; SERVICE_UNAVAILABLE also when too much is asked of the webhook already */
  ask(webhook: Webhook, post: RequestedPost): Promise<void>
  /** The answer; undefined when there is none in time, or when the signal aborts. @throws ApiError as {@link ask} */
  askAndWait(webhook: Webhook, post: RequestedPost, milliseconds: number, signal: AbortSignal): Promise<PostAnswer | undefined>
}

/** The keys that sign download links, as they are now. @throws ApiError when there are none yet */
export type KeyRingSource = () => KeyRing

/** The public key that secrets are sealed to, as it is now. @throws ApiError when there is none yet */
export type SealingKeySource = () => SealingKey

/** Asks a part of the service whether it is there. Never throws. */
export type Probe = () => Promise<ComponentHealth>
