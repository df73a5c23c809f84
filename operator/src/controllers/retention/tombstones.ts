import { dayOf, tombstonesPrefix } from '@tintype/crds/records/storage-keys'
import { mapConcurrently } from '@tintype/crds/runtime/map-concurrently'
import { type ObjectStorage, PAGE } from '@tintype/crds/storage/port'
import { isDeletionConfirmed, type MarkChecks } from './marks.ts'

const CONCURRENT_READS = 16

/** Ids that a program of this release marked as deleted. */
export async function findDeleted(
  account: string,
  ids: readonly string[],
  deps: MarkChecks & { storage: Pick<ObjectStorage, 'list' | 'readText'> },
): Promise<Set<string>> {
  const deleted = new Set<string>()
  await mapConcurrently([...(await findTombstones(account, ids, deps.storage))], CONCURRENT_READS, async (id) => {
    if (await isDeletionConfirmed(account, id, deps)) deleted.add(id)
  })
  return deleted
}

/**
 * Ids that are marked as deleted, with or without a valid signature. Needs one list per day and per thousand marks. The ids may be in any
 * order.
 */
export async function findTombstones(account: string, ids: readonly string[], objects: Pick<ObjectStorage, 'list'>): Promise<Set<string>> {
  const byDay = Map.groupBy([...ids].sort(), dayOf)
  const tombstoned = new Set<string>()
  for (const [day, wanted] of byDay) {
    const marked = await listMarked(tombstonesPrefix(account, day), wanted[0]!, wanted.at(-1)!, objects)
    for (const id of wanted) if (marked.has(id)) tombstoned.add(id)
  }
  return tombstoned
}

async function listMarked(prefix: string, first: string, last: string, objects: Pick<ObjectStorage, 'list'>): Promise<Set<string>> {
  const marked = new Set<string>()
  // Start before the first id, so that it is listed too.
  for (let after = prefix + first.slice(0, -1); ; ) {
    const keys = await objects.list(prefix, { after, limit: PAGE })
    for (const key of keys) marked.add(key.slice(prefix.length))
    const end = keys.at(-1)
    if (end === undefined || keys.length < PAGE || end > prefix + last) return marked
    after = end
  }
}
