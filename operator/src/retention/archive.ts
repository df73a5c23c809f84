// rbac: tintype.dev/screenshots delete

// Moves records from the Kubernetes API to the bucket: written first, deleted then, so that at every moment each is in one of the two. Any
// step may be repeated, by this leader or by the next: the same record gives the same object, and a second line of it is merged by readers.

import { isConflict, isNotFound } from '@tintype/crds/client/kube-error'
import { keyOf } from '@tintype/crds/client/kube-object'
import type { Log } from '@tintype/crds/client/log'
import type { Reflector } from '@tintype/crds/client/reflector'
import type { Resource } from '@tintype/crds/client/resource'
import { keptUntil } from '@tintype/crds/crypto/download-link'
import { signMarker } from '@tintype/crds/crypto/signed-markers'
import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { toLines, toSegments } from '@tintype/crds/records/archive'
import { accountOf } from '@tintype/crds/records/record'
import { dayOf, expiryKey, JOIN, recordKey, rewriteKey } from '@tintype/crds/records/storage-keys'
import { mapConcurrently } from '@tintype/crds/runtime/map-concurrently'
import type { Archiving } from '../storage/archiving.ts'
import type { Storage } from '../storage/storage.ts'
import { discardRecord } from './deletion.ts'
import type { MarkChecks } from './marks.ts'
import { findDeleted } from './tombstones.ts'

export interface ArchiveDeps extends MarkChecks {
  screenshots: Pick<Resource<Screenshot>, 'delete'>
  seen: Pick<Reflector<Screenshot>, 'observeDeleted'>
  storage: Pick<Storage, 'exists' | 'readText' | 'write' | 'list' | 'remove'>
  archiving: Archiving
  /** False once this operator is about to lead no more. */
  mayWrite: () => boolean
  onArchived: (count: number) => void
  log: Log
}

/** Objects written, and Screenshots deleted, at a time. */
const PARALLEL = 16

const idOf = ({ metadata }: Screenshot): string => screenshotIdOf(metadata)

/** Archives finished records. @throws RetryableError when the store or the API server is away: what is done stays done */
export async function archive(chosen: readonly Screenshot[], deps: ArchiveDeps): Promise<void> {
  for (const [account, screenshots] of Map.groupBy(chosen, accountOf)) {
    if (!deps.mayWrite()) return
    // A deletion that did not come through: it is carried out, and nothing of it archived.
    const tombstoned = await findDeleted(account, screenshots.map(idOf), deps)
    const kept = screenshots.filter((screenshot) => !tombstoned.has(idOf(screenshot)))
    await write(account, kept, deps)
    await removeAll(account, screenshots, kept, deps)
    deps.onArchived(kept.length)
    deps.log.info({ account, archived: kept.length, deleted: tombstoned.size }, 'records archived')
  }
}

/** Takes them out of the Kubernetes API. @param kept those whose record is in the archive */
async function removeAll(account: string, screenshots: readonly Screenshot[], kept: readonly Screenshot[], deps: ArchiveDeps) {
  const archived = new Set<Screenshot>()
  deps.archiving.hold(kept)
  try {
    const removed = new Set<Screenshot>()
    await mapConcurrently(screenshots, PARALLEL, async (screenshot) => {
      if (await remove(account, screenshot, deps)) removed.add(screenshot)
    })
    // Who deletes one marks it first: whoever did so before it was gone is found now, and later ones find it archived.
    const ours = kept.filter((screenshot) => removed.has(screenshot))
    const tombstoned = await findDeleted(account, ours.map(idOf), deps)
    for (const screenshot of ours) if (!tombstoned.has(idOf(screenshot))) archived.add(screenshot)
  } finally {
    deps.archiving.release(kept, archived)
  }
}

async function write(account: string, screenshots: readonly Screenshot[], { storage, ring }: ArchiveDeps): Promise<void> {
  const lines = toLines(screenshots)
  await mapConcurrently(lines, PARALLEL, ({ id, line }) => storage.write(recordKey(account, id), line))
  const segments = toSegments(account, lines)
  await mapConcurrently(screenshots, PARALLEL, (screenshot) => markExpiry(account, screenshot, { storage, ring }))
  await mapConcurrently(segments, PARALLEL, ({ key, text }) => storage.write(key, text))
  const days = new Set(segments.map(({ first }) => dayOf(first)))
  for (const day of days) await storage.write(rewriteKey(account, day, JOIN), '')
}

/** Files that go sooner than their plan says are not found by their age: a mark says when. Every record comes by here, days before. */
async function markExpiry(
  account: string,
  screenshot: Screenshot,
  { storage, ring }: Pick<ArchiveDeps, 'storage' | 'ring'>,
): Promise<void> {
  const { retentionDays } = screenshot.spec
  if (retentionDays === undefined || screenshot.status?.phase !== 'Completed') return
  const id = idOf(screenshot)
  const key = expiryKey(account, id, keptUntil(createdAtOf(id), retentionDays))
  await storage.write(key, signMarker(key, ring))
}

/** True: it is gone, and by this. */
async function remove(account: string, screenshot: Screenshot, deps: ArchiveDeps): Promise<boolean> {
  if (!deps.mayWrite()) return false
  const { name, namespace, uid, resourceVersion } = screenshot.metadata
  try {
    await deps.screenshots.delete(name, { namespace, uid, resourceVersion })
    deps.seen.observeDeleted(screenshot)
    return true
  } catch (error) {
    // Changed since it was read: the next pass writes it anew and tries again.
    if (isConflict(error)) return false
    if (!isNotFound(error)) throw error
    // Gone: archived by a leader before this one, or deleted by its owner while it was being written.
    deps.log.debug({ key: keyOf(screenshot) }, 'a record to archive is gone')
    await discardRecord(account, idOf(screenshot), deps)
    return false
  }
}
