import { sharedCaptureKey } from '@tintype/crds/records/storage-keys'
import type { WriteCondition } from '@tintype/crds/storage/port'
import { z } from 'zod'
import { type Entry, EntryStore, type EntryStoreDeps } from './entry-store.ts'
import type { CreationPlan } from './plan.ts'
import { requestHash } from './request-hash.ts'

// The shared capture of a picture: one object in the bucket that holds the plan of the capture on which all requests for the picture wait. It is an entry
// of the same form as that of an Idempotency-Key, so the same signature protects it, and the same lifecycle rule removes it.

/** The single capture for all requests of a picture. */
export interface SharedCapture {
  plan: CreationPlan
  /** Time at which a process last started to carry out the plan. */
  takenAt: Date
  /** Number of failed captures directly before this one. */
  failures: number
  /** True when its process could not carry out the plan and never will, so that the next request starts another shared capture. */
  isReleased: boolean
  etag: string
}

/** Identifies a picture. */
export interface PictureKey {
  account: string
  /** The cache hash of the picture. */
  hash: string
}

/** The stored object. `shared` is absent when its content is not valid. */
export interface StoredSharedCapture {
  etag: string
  shared?: SharedCapture
}

const SharedCaptureResult = z.object({ failures: z.int().min(0), isReleased: z.boolean().default(false) })

/** Reads and writes shared captures, with conditions. */
export class SharedCaptureStore {
  readonly #deps: EntryStoreDeps
  readonly #entries: EntryStore

  constructor(deps: EntryStoreDeps) {
    this.#deps = deps
    this.#entries = new EntryStore(deps)
  }

  async read({ account, hash }: PictureKey): Promise<StoredSharedCapture | undefined> {
    const stored = await this.#entries.read(sharedCaptureKey(account, hash))
    return stored?.entry ? { etag: stored.etag, shared: toSharedCapture(stored.entry, stored.etag) } : stored
  }

  /** Stores a new shared capture, in place of the object with the ETag `replaced` if given. Returns undefined when another request was faster. */
  async start(picture: PictureKey, plan: CreationPlan, failures: number, replaced: string | undefined): Promise<SharedCapture | undefined> {
    const { now } = this.#deps
    return this.#write(
      picture,
      { plan, takenAt: now(), failures, isReleased: false },
      replaced === undefined ? { ifAbsent: true } : { ifMatch: replaced },
    )
  }

  /** Takes over the unchanged plan of a process that did not carry it out. Returns undefined when another request was faster. */
  async takeOver(picture: PictureKey, shared: SharedCapture): Promise<SharedCapture | undefined> {
    return this.#write(picture, { ...shared, takenAt: this.#deps.now() }, { ifMatch: shared.etag })
  }

  /** Ends a shared capture of which nothing was carried out, and keeps the number of failures. Does nothing when another process has taken it over. */
  async release(picture: PictureKey, shared: SharedCapture): Promise<void> {
    await this.#write(picture, { ...shared, isReleased: true }, { ifMatch: shared.etag })
  }

  async #write(
    picture: PictureKey,
    { plan, takenAt, failures, isReleased }: Pick<SharedCapture, 'plan' | 'takenAt' | 'failures' | 'isReleased'>,
    condition: WriteCondition,
  ): Promise<SharedCapture | undefined> {
    const { account } = picture
    const hash = requestHash({ account, route: 'GET /take', body: picture.hash }, this.#deps.keyRing())
    const entry: Entry = { hash, plan, takenAt: takenAt.toISOString(), result: { failures, isReleased } }
    const etag = await this.#entries.write(sharedCaptureKey(account, picture.hash), entry, condition)
    return etag === undefined ? undefined : toSharedCapture(entry, etag)
  }
}

function toSharedCapture({ plan, takenAt, result }: Entry, etag: string): SharedCapture {
  const { failures = 0, isReleased = false } = SharedCaptureResult.safeParse(result).data ?? {}
  return { plan, takenAt: new Date(takenAt), failures, isReleased, etag }
}
