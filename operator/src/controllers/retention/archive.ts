// rbac: tintype.dev/screenshots get,delete

// Archives records: moves them from the Kubernetes API to the bucket. Each record is first written and then deleted, so that it is always
// in at least one of the two. This leader or the next may repeat any step: the same record gives the same object, and readers merge
// duplicate lines.

import { isConflict, isNotFound } from '@tintype/crds/client/kube-error'
import { keyOf } from '@tintype/crds/client/kube-object'
import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { isRestored } from '@tintype/crds/records/named-record'
import { accountOf } from '@tintype/crds/records/record'
import { recordKey } from '@tintype/crds/records/storage-keys'
import { mapConcurrently } from '@tintype/crds/runtime/lists'
import { isWhole } from '@tintype/crds/schema/custom-resource'
import {
  findDeleted,
  isDeletionConfirmed,
  type MarkChecks,
  requestRewrite,
  writeRecords,
  writeTombstone,
} from '@tintype/crds/storage/archive'
import type { Counter } from 'prom-client'
import { readWhole } from '../../kube/read-object.ts'
import type { TermDeps } from '../../runtime/deps.ts'
import type { Storage } from '../../storage/storage.ts'
import { withOpenDeliveries } from '../delivery/undelivered-store.ts'

interface ArchiveDeps extends MarkChecks, Pick<TermDeps, 'clients' | 'reflectors' | 'storage' | 'archiving' | 'log'> {
  /** False once this operator loses leadership. */
  mayContinue: () => boolean
  metrics: { archived: Pick<Counter, 'inc'> }
}

/** Concurrent deletions of Screenshots. */
const PARALLEL = 16
/** Large records in memory at a time. Each is there three times: as an object, as a line, and in a segment. */
const LARGE_AT_ONCE = 4

const idOf = ({ metadata }: Screenshot): string => screenshotIdOf(metadata)

/** Archives finished records. @throws RetryableError when the store or the API server is unavailable; finished steps stay done */
export async function archive(chosen: readonly Screenshot[], deps: ArchiveDeps): Promise<void> {
  for (const screenshots of toParts(chosen)) {
    if (!deps.mayContinue()) return
    const account = accountOf(screenshots[0]!)
    // For a record that is already marked as deleted, finish the deletion and archive nothing.
    const tombstoned = await findDeleted(account, screenshots.map(idOf), deps)
    const [deleted = [], kept = []] = [true, false].map((is) => screenshots.filter((screenshot) => tombstoned.has(idOf(screenshot)) === is))
    const archived = new Set<Screenshot>()
    // From now on, no post of these Screenshots starts.
    deps.archiving.hold(kept)
    try {
      const ready = await write(account, kept, deps)
      await removeAll(account, [...deleted, ...ready], { ready, archived }, deps)
      deps.metrics.archived.inc(ready.length)
      deps.log.info({ account, archived: ready.length, deleted: deleted.length }, 'records archived')
    } finally {
      deps.archiving.release(kept, archived)
    }
  }
}

/** Divides records by account, and large ones into small parts. */
function toParts(chosen: readonly Screenshot[]): Screenshot[][] {
  return [...Map.groupBy(chosen, accountOf).values()].flatMap((ofAccount) => {
    const large = ofAccount.filter((screenshot) => !isWhole(screenshot))
    const starts = large.keys().filter((index) => index % LARGE_AT_ONCE === 0)
    const parts = [ofAccount.filter(isWhole), ...starts.map((start) => large.slice(start, start + LARGE_AT_ONCE))]
    return parts.filter(({ length }) => length > 0)
  })
}

/** Deletes Screenshots from the Kubernetes API. Adds those of `ready` to `archived` that are certainly archived. */
async function removeAll(
  account: string,
  screenshots: readonly Screenshot[],
  { ready, archived }: { ready: readonly Screenshot[]; archived: Set<Screenshot> },
  deps: ArchiveDeps,
) {
  const removed = new Set<Screenshot>()
  await mapConcurrently(screenshots, PARALLEL, async (screenshot) => {
    if (await remove(account, screenshot, deps)) removed.add(screenshot)
  })
  // A deletion writes its tombstone first. One that happened before the Screenshot was deleted is found here; later ones find the
  // archived record.
  const deletedHere = ready.filter((screenshot) => removed.has(screenshot))
  const tombstoned = await findDeleted(account, deletedHere.map(idOf), deps)
  for (const screenshot of deletedHere) if (!tombstoned.has(idOf(screenshot))) archived.add(screenshot)
}

/**
 * Writes the records of Screenshots, then their open deliveries: a delivery counts only if the record names it. Returns the Screenshots that may
 * be deleted. Those with a running post follow in the next pass. Those that do not exist any more have no record.
 */
async function write(account: string, screenshots: readonly Screenshot[], deps: ArchiveDeps): Promise<Screenshot[]> {
  const { openDeliveries } = deps.archiving
  const found = screenshots.flatMap((screenshot) => {
    const open = openDeliveries.of(screenshot)
    // The record of a restored Screenshot is already there, without its deliveries.
    if (open && (open.length === 0 || !isRestored(screenshot))) return [{ screenshot, open }]
    // The results of its posts must not wait for the others.
    deps.archiving.release([screenshot], new Set())
    return []
  })
  const toWrite = found.filter(({ screenshot }) => !isRestored(screenshot))
  const read = await mapConcurrently(toWrite, PARALLEL, async ({ screenshot, open }) => {
    const whole = await readWhole(screenshot, deps.clients.screenshots)
    return { screenshot, record: whole && withOpenDeliveries(whole, open) }
  })
  await writeRecords(
    account,
    read.flatMap(({ record }) => record ?? []),
    deps,
  )
  const gone = new Set(read.flatMap(({ screenshot, record }) => (record ? [] : [screenshot])))
  const kept = found.filter(({ screenshot }) => !gone.has(screenshot))
  await openDeliveries.keep(
    account,
    kept.flatMap(({ open }) => open),
  )
  return kept.map(({ screenshot }) => screenshot)
}

/** Deletes a Screenshot. Returns true when this call deleted it. */
async function remove(account: string, screenshot: Screenshot, deps: ArchiveDeps): Promise<boolean> {
  if (!deps.mayContinue()) return false
  const { name, uid, resourceVersion } = screenshot.metadata
  try {
    await deps.clients.screenshots.delete(name, { uid, resourceVersion })
    deps.reflectors.screenshots.noteDeleted(screenshot)
    return true
  } catch (error) {
    // The Screenshot changed after it was read. The next pass writes the record again and retries.
    if (isConflict(error)) return false
    if (!isNotFound(error)) throw error
    // Already deleted: an earlier leader archived it, or its owner deleted it during the write.
    deps.log.debug({ key: keyOf(screenshot) }, 'record to archive was already deleted')
    await discardRecord(account, idOf(screenshot), deps)
    return false
  }
}

/** Dependencies for handling the end of a record. */
interface DeletionDeps extends MarkChecks {
  storage: Pick<Storage, 'exists' | 'readText' | 'write' | 'remove'>
}

/** Deletes the text of a record if its owner deleted it. Returns whether that was the case. The next rewrite removes it from segments. */
async function discardRecord(account: string, id: string, deps: DeletionDeps): Promise<boolean> {
  if (!(await isDeletionConfirmed(account, id, deps))) return false
  await requestRewrite(account, id, deps)
  await deps.storage.remove([recordKey(account, id)])
  return true
}

/**
 * Decides what the deletion of a finished Screenshot in the Kubernetes API means: `archived` keeps its files. It checks only the bucket, so
 * every leader decides the same, also after a crash between archiving and deletion. A manual deletion in this gap cannot be detected: the
 * record stays archived. Any object at the record's key keeps the files, because the record may have been overwritten.
 */
export async function evaluateDeletion(account: string, id: string, deps: DeletionDeps): Promise<'archived' | 'deleted'> {
  if (!(await deps.storage.exists(recordKey(account, id)))) {
    await writeTombstone(account, id, deps)
    return 'deleted'
  }
  return (await discardRecord(account, id, deps)) ? 'deleted' : 'archived'
}
