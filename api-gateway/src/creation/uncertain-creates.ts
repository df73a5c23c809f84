import { setTimeout as sleep } from 'node:timers/promises'
import { toObjectName } from '@tintype/crds/identifiers/names'
import type { FastifyBaseLogger } from 'fastify'
import type { QuotaStore, RecordArchive, ScreenshotStore } from '../store/ports.ts'

// Creates whose outcome is unknown, for example because the API server responded too late under load. Their quota stays charged until the
// outcome is certain. This process checks again once a late create is impossible. The operator settles what is left when this process ends.

/** Longer than the API server works on a request (--request-timeout, 60 s): later than this no create can still succeed. */
const CREATE_SETTLED_MILLISECONDS = 90_000
/** All checks together take less time than the operator waits before it settles the reservation itself. */
const MAX_CHECKS = 5

/** Screenshots of one reservation that may exist, or that a pending request may still create. */
export interface UncertainCreate {
  account: string
  reservation: string
  ids: readonly string[]
}

export interface UncertainCreatesDeps {
  screenshots: Pick<ScreenshotStore, 'findLatest'>
  archive: Pick<RecordArchive, 'find' | 'isDeleted'>
  quota: Pick<QuotaStore, 'release' | 'settle'>
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>
  /** Resolves when no create can still succeed. Must not keep the process alive. */
  wait?: () => Promise<unknown>
}

/** Settles creates whose outcome is unknown. */
export class UncertainCreates {
  readonly #deps: UncertainCreatesDeps
  readonly #wait: () => Promise<unknown>

  constructor(deps: UncertainCreatesDeps) {
    this.#deps = deps
    this.#wait = deps.wait ?? (() => sleep(CREATE_SETTLED_MILLISECONDS, undefined, { ref: false }))
  }

  /** Call only when no request uses the reservation. Resolves when it is settled or left to the operator. */
  async add(create: UncertainCreate): Promise<void> {
    for (let checks = 1; checks <= MAX_CHECKS; checks++) {
      await this.#wait()
      try {
        return await this.#resolve(create)
      } catch (error) {
        this.#deps.log.warn({ err: error, account: create.account, checks }, 'create outcome unknown; will retry')
      }
    }
  }

  async #resolve({ account, reservation, ids }: UncertainCreate): Promise<void> {
    const { quota, log } = this.#deps
    const missing: string[] = []
    for (const id of ids) if (!(await this.#wasCreated(account, id))) missing.push(id)
    if (missing.length > 0) await quota.release(account, reservation, missing.map(toObjectName))
    else quota.settle(account, reservation)
    log.info({ account, created: ids.length - missing.length, refunded: missing.length }, 'uncertain creates settled')
  }

  /** A screenshot that was deleted since counts too: it stays charged. */
  async #wasCreated(account: string, id: string): Promise<boolean> {
    const { screenshots, archive } = this.#deps
    if (await screenshots.findLatest(id)) return true
    return (await archive.find(account, id)) !== undefined || (await archive.isDeleted(account, id))
  }
}
