import type { Readable } from 'node:stream'
import type { KeyRing } from '@tintype/crds/download-link'
import type { Account } from '@tintype/crds/kinds/account'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { ByteRange } from '../translate/byte-range.ts'
import type { NewScreenshot } from '../translate/screenshot.ts'
import type { ComponentHealth } from '../translate/service-status.ts'

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
  /** False when it was gone already. */
  delete(screenshot: Screenshot): Promise<boolean>
  /** Its latest state as soon as it has ended; also when time is up, the signal aborts, or it is deleted (undefined). */
  waitUntilFinished(screenshot: Screenshot, milliseconds: number, signal: AbortSignal): Promise<Screenshot | undefined>
}

/** A stored file. */
export interface StoredFile {
  sizeBytes: number
  /** Without quotes. */
  etag: string
  lastModified: Date
}

/** The bucket. */
export interface FileStore {
  stat(key: string): Promise<StoredFile | undefined>
  open(key: string, range: ByteRange | undefined): Promise<Readable>
  /** Puts an empty object: its name is the message. */
  mark(key: string): Promise<void>
  removeAll(prefix: string): Promise<void>
}

/** Keys and their accounts. */
export interface KeyStore {
  /** Keys that answer to the hash; asks the API server, within bounds, when the copy has none. */
  findByHash(hash: string): Promise<readonly ApiKey[]>
  findAccount(name: string): Promise<Account | undefined>
}

/** The keys that sign download links, as they are now. @throws ApiError when there are none yet */
export type KeyRingSource = () => KeyRing

/** Asks a part of the service whether it is there. Never throws. */
export type Probe = () => Promise<ComponentHealth>
