import { setTimeout as sleep } from 'node:timers/promises'
import { toObjectName } from '@tintype/crds/names'
import { tombstoneKey } from '@tintype/crds/storage-keys'
import type { FastifyBaseLogger } from 'fastify'
import type { FileStore, QuotaStore, RecordArchive, ScreenshotStore } from '../store/ports.ts'

// Creations whose outcome is not known, as under load when the API server answers too late. Their units stay charged until it is: this
// process looks again when nothing can come of them any more. What it does not find out, the operator does, when it has ended or given up.

/** Longer than the API server works on a request (--request-timeout, 60 s): what is not there by then never will be. */
const CERTAIN_MILLISECONDS = 90_000
/** Together less than the time after which the operator takes this process to have given up. */
const MAX_LOOKS = 5

/** Screenshots of one reservation that may exist, or may come to. */
export interface Doubt {
  account: string
  reservation: string
  ids: readonly string[]
}

export interface DoubtsDeps {
  screenshots: Pick<ScreenshotStore, 'findLatest'>
  archive: Pick<RecordArchive, 'find'>
  files: Pick<FileStore, 'stat'>
  quota: Pick<QuotaStore, 'giveBack' | 'settle'>
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>
  /** Resolves after the time that makes it certain; without holding the process. */
  wait?: () => Promise<unknown>
}

/** See the head of this file. */
export class Doubts {
  readonly #deps: DoubtsDeps
  readonly #wait: () => Promise<unknown>

  constructor(deps: DoubtsDeps) {
    this.#deps = deps
    this.#wait = deps.wait ?? (() => sleep(CERTAIN_MILLISECONDS, undefined, { ref: false }))
  }

  /** Nobody may work under the reservation any more. Resolves when it is settled, or left to the operator. */
  async add(doubt: Doubt): Promise<void> {
    for (let looks = 1; looks <= MAX_LOOKS; looks++) {
      await this.#wait()
      try {
        return await this.#settle(doubt)
      } catch (error) {
        this.#deps.log.warn({ err: error, account: doubt.account, looks }, 'it is not known yet what became of some screenshots')
      }
    }
  }

  async #settle({ account, reservation, ids }: Doubt): Promise<void> {
    const { quota, log } = this.#deps
    const missing: string[] = []
    for (const id of ids) if (!(await this.#wasCreated(account, id))) missing.push(id)
    if (missing.length > 0) await quota.giveBack(account, reservation, missing.map(toObjectName))
    quota.settle(account, reservation)
    log.info({ account, created: ids.length - missing.length, givenBack: missing.length }, 'creations in doubt are settled')
  }

  /** Also what was deleted since: its unit stays spent. */
  async #wasCreated(account: string, id: string): Promise<boolean> {
    const { screenshots, archive, files } = this.#deps
    if (await screenshots.findLatest(id)) return true
    return (await archive.find(account, id)) !== undefined || (await files.stat(tombstoneKey(account, id))) !== undefined
  }
}
