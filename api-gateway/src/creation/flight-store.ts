import type { KeyRing } from '@tintype/crds/crypto/download-link'
import { ignoreSilently, type ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { MAX_OBJECT_BYTES } from '@tintype/crds/records/storage-limits'
import { isTooLarge } from '@tintype/crds/storage/port'
import { z } from 'zod'
import type { FileStore, ObjectStore } from '../store/ports.ts'
import { type Entry, readEntry, toEntryText } from './idempotency-entry.ts'
import type { CreationPlan } from './plan.ts'
import { requestHash } from './request-hash.ts'

// The flight of a picture: one object in the bucket that holds the plan of the capture on which all requests for the picture wait. It is an entry of the
// same form as that of an Idempotency-Key, so the same signature protects it, and the same lifecycle rule removes it.

/** The single capture for all requests of a picture. */
export interface Flight {
  plan: CreationPlan
  /** Time at which a process last started to carry out the plan. */
  takenAt: Date
  /** Number of failed captures directly before this one. */
  failures: number
  /** True when its process could not carry out the plan and never will, so that the next request starts another flight. */
  isReleased: boolean
  etag: string
}

/** Identifies a picture. */
export interface PictureKey {
  account: string
  /** The cache hash of the picture. */
  hash: string
}

/** The stored object. `flight` is absent when its content is not valid. */
export interface StoredFlight {
  etag: string
  flight?: Flight
}

export interface FlightStoreDeps {
  objects: Pick<ObjectStore, 'read' | 'write'>
  files: Pick<FileStore, 'stat'>
  keyRing: () => KeyRing
  now: () => Date
  report?: ReportIgnored
}

const FlightResult = z.object({ failures: z.int().min(0), isReleased: z.boolean().default(false) })

/** The object key of a flight. */
export const flightKey = ({ account, hash }: PictureKey): string => `idempotency/${account}/flight-${hash}.json`

/** Reads and writes flights, with conditions. */
export class FlightStore {
  readonly #deps: FlightStoreDeps

  constructor(deps: FlightStoreDeps) {
    this.#deps = deps
  }

  async read(picture: PictureKey): Promise<StoredFlight | undefined> {
    const { objects, files, keyRing, now, report = ignoreSilently } = this.#deps
    const objectKey = flightKey(picture)
    const stored = await objects.read(objectKey, MAX_OBJECT_BYTES.idempotency).catch(async (error: unknown) => {
      if (!isTooLarge(error)) throw error
      const file = await files.stat(objectKey)
      return file && { text: undefined, etag: file.etag }
    })
    if (!stored) return undefined
    const { text, etag } = stored
    const entry = text === undefined ? 'size' : readEntry(text, objectKey, keyRing(), now())
    if (typeof entry === 'object') return { etag, flight: toFlight(entry, etag) }
    report({ kind: 'idempotency', reason: entry, key: objectKey })
    return { etag }
  }

  /** Stores a new flight, in place of the object with the ETag `replaced` if given. Returns undefined when another request was faster. */
  async start(picture: PictureKey, plan: CreationPlan, failures: number, replaced: string | undefined): Promise<Flight | undefined> {
    const { now } = this.#deps
    return this.#write(
      picture,
      { plan, takenAt: now(), failures, isReleased: false },
      replaced === undefined ? { ifAbsent: true } : { ifMatch: replaced },
    )
  }

  /** Takes over the unchanged plan of a process that did not carry it out. Returns undefined when another request was faster. */
  async takeOver(picture: PictureKey, flight: Flight): Promise<Flight | undefined> {
    return this.#write(picture, { ...flight, takenAt: this.#deps.now() }, { ifMatch: flight.etag })
  }

  /** Ends a flight of which nothing was carried out, and keeps the number of failures. Does nothing when another process has taken it over. */
  async release(picture: PictureKey, flight: Flight): Promise<void> {
    await this.#write(picture, { ...flight, isReleased: true }, { ifMatch: flight.etag })
  }

  async #write(
    picture: PictureKey,
    { plan, takenAt, failures, isReleased }: Pick<Flight, 'plan' | 'takenAt' | 'failures' | 'isReleased'>,
    condition: { ifAbsent?: boolean; ifMatch?: string },
  ): Promise<Flight | undefined> {
    const { objects, keyRing } = this.#deps
    const objectKey = flightKey(picture)
    const hash = requestHash({ account: picture.account, route: 'GET /take', body: picture.hash }, keyRing())
    const entry: Entry = { hash, plan, takenAt: takenAt.toISOString(), result: { failures, isReleased } }
    const etag = await objects.write(objectKey, toEntryText(objectKey, entry, keyRing()), condition)
    return etag === undefined ? undefined : toFlight(entry, etag)
  }
}

function toFlight({ plan, takenAt, result }: Entry, etag: string): Flight {
  const { failures = 0, isReleased = false } = FlightResult.safeParse(result).data ?? {}
  return { plan, takenAt: new Date(takenAt), failures, isReleased, etag }
}
