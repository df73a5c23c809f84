// Screenshots that are applied again after their record was archived, as GitOps does. They take the result of the record: nothing is captured
// and nothing is charged.

import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { digestOf, hasOwnName, readNamedRecord } from '@tintype/crds/records/named-record'
import { accountOf } from '@tintype/crds/records/record'
import { namedRecordKey } from '@tintype/crds/records/storage-keys'
import { findArchived } from '@tintype/crds/storage/archive'
import { readParsed } from '@tintype/crds/storage/stored-objects'
import { LRUCache } from 'lru-cache'
import { type Finder, withWhole } from '../../kube/read-whole.ts'
import type { Storage } from '../../storage/storage.ts'
import { isNew } from './status.ts'

export interface RestorerDeps {
  clients: { screenshots: Finder<Screenshot> }
  storage: Pick<Storage, 'readText' | 'exists'>
  report: ReportIgnored
  now: () => Date
}

const MAX_REMEMBERED = 10_000

export class Restorer {
  readonly #deps: RestorerDeps
  /** Uids of Screenshots without such a record. */
  readonly #without = new LRUCache<string, true>({ max: MAX_REMEMBERED })

  constructor(deps: RestorerDeps) {
    this.#deps = deps
  }

  /** Finds the completed record whose result a new Screenshot takes: same account, name and spec. @throws RetryableError, KubeError */
  async find(shot: Screenshot): Promise<Screenshot | undefined> {
    if (!isNew(shot) || !hasOwnName(shot) || this.#without.has(shot.metadata.uid)) return undefined
    const record = await this.#read(shot)
    if (!record) this.forbid(shot)
    return record
  }

  /** Makes the Screenshot be captured. */
  forbid({ metadata }: Screenshot): void {
    this.#without.set(metadata.uid, true)
  }

  async #read(shot: Screenshot): Promise<Screenshot | undefined> {
    const account = accountOf(shot)
    const key = namedRecordKey(account, shot.metadata.name)
    const named = await readParsed('name', key, (text) => readNamedRecord(text, this.#deps.now()), this.#deps)
    const digest = named && (await withWhole(shot, this.#deps.clients.screenshots, async (whole) => digestOf(whole)))
    if (!named || named.digest !== digest) return undefined
    const record = await findArchived(account, named.id, this.#deps)
    const isUsable = record?.metadata.name === shot.metadata.name && record.status?.phase === 'Completed'
    return isUsable ? record : undefined
  }
}
