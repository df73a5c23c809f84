import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { tombstonesPrefix } from '@tintype/crds/records/storage-keys'
import type { ObjectStore } from '../store/ports.ts'
import { type DayListing, idsOfTombstones, type ListDeps, PAGE } from './day-listing.ts'

/** Deleted records of a day. Lists up to a thousand tombstones at a time, on demand. */
export class Tombstones {
  readonly #account: string
  readonly #day: string
  readonly #prefix: string
  readonly #objects: Pick<ObjectStore, 'list'>
  readonly #report: ReportIgnored
  #ids: ReadonlySet<string>
  /** The range of known ids: after `#from`, up to `#until`. Undefined means up to the end. */
  #from: string
  #until: string | undefined

  constructor(account: string, { day, deletedIds }: DayListing, { objects, report }: ListDeps) {
    this.#account = account
    this.#day = day
    this.#report = report
    this.#prefix = tombstonesPrefix(account, day)
    this.#objects = objects
    this.#ids = deletedIds ?? new Set()
    this.#from = ''
    this.#until = deletedIds ? undefined : ''
  }

  async has(id: string): Promise<boolean> {
    const isKnown = id > this.#from && (this.#until === undefined || id <= this.#until)
    if (!isKnown) await this.#listAround(id)
    return this.#ids.has(id)
  }

  /** Lists from just before the id, because a scan asks for the following ids next. */
  async #listAround(id: string): Promise<void> {
    // Shorter than an id, so that the id itself is listed.
    this.#from = id.slice(0, -1)
    const keys = await this.#objects.list(this.#prefix, { after: this.#prefix + this.#from, limit: PAGE })
    this.#ids = idsOfTombstones(this.#account, this.#day, keys, this.#report)
    this.#until = keys.length < PAGE ? undefined : keys.at(-1)!.slice(this.#prefix.length)
  }
}
