import { type KeyRing, keptUntil, signMarker } from '../../src/crypto/signatures.ts'
import { createdAtOf, screenshotIdOf } from '../../src/identifiers/ids.ts'
import type { Screenshot } from '../../src/kinds/screenshot.ts'
import { readArchived, toLines, toSegments } from '../../src/records/archive.ts'
import { digestOf, hasOwnName, type NamedRecord } from '../../src/records/named-record.ts'
import { dayOf, expiryKey, JOIN, namedRecordKey, recordKey, rewriteKey } from '../../src/records/storage-keys.ts'
import { mapConcurrently } from '../../src/runtime/lists.ts'
import type { Whole } from '../../src/schema/custom-resource.ts'
import type { ObjectStorage } from '../port.ts'
import { readParsed, type StoredReader } from '../read-stored.ts'
import { isDeleted } from './tombstones.ts'

// Archived records: docs/adr/0009-archive-records-before-deleting-them.md. The operator moves records from the Kubernetes API to the bucket. The gateway
// adds records that were never in the Kubernetes API.

/** Concurrent writes of objects. */
const PARALLEL = 16

export interface ArchiveReader extends StoredReader {
  now: () => Date
}

/** Reads an archived record, also one that is marked as deleted. A malformed or misplaced one is reported and counts as absent. */
export const readArchivedRecord = (account: string, id: string, reader: ArchiveReader): Promise<Screenshot | undefined> =>
  readParsed('record', recordKey(account, id), (text) => readArchived(text, { account, id }, reader.now()), reader)

/** Finds an archived record that is not marked as deleted. */
export async function findArchived(
  account: string,
  id: string,
  reader: ArchiveReader & { storage: Pick<ObjectStorage, 'readText' | 'exists'> },
): Promise<Screenshot | undefined> {
  const [record, isHidden] = await Promise.all([readArchivedRecord(account, id, reader), isDeleted(account, id, reader.storage)])
  return isHidden ? undefined : record
}

export interface ArchiveWriter {
  storage: { write: (key: string, text: string) => Promise<unknown> }
  ring: KeyRing
}

/** Writes records. Every step can be repeated: the same records give the same keys. */
export async function writeRecords(account: string, screenshots: readonly Whole<Screenshot>[], writer: ArchiveWriter): Promise<void> {
  const { storage } = writer
  const lines = toLines(screenshots)
  await mapConcurrently(lines, PARALLEL, ({ id, line }) => storage.write(recordKey(account, id), line))
  const segments = toSegments(account, lines)
  await mapConcurrently(screenshots.filter(hasOwnName), PARALLEL, (screenshot) => writeName(account, screenshot, writer))
  await mapConcurrently(screenshots, PARALLEL, (screenshot) => markExpiry(account, screenshot, writer))
  await mapConcurrently(segments, PARALLEL, ({ key, text }) => storage.write(key, text))
  const days = new Set(segments.map(({ first }) => dayOf(first)))
  for (const day of days) await storage.write(rewriteKey(account, day, JOIN), '')
}

/** Lets the same Screenshot take this result if it is applied again. */
async function writeName(account: string, screenshot: Whole<Screenshot>, { storage }: ArchiveWriter): Promise<void> {
  const named: NamedRecord = { version: 1, id: screenshotIdOf(screenshot.metadata), digest: digestOf(screenshot) }
  await storage.write(namedRecordKey(account, screenshot.metadata.name), JSON.stringify(named))
}

/** Files that expire before their plan's retention are not found by age, so a mark holds their expiry time. */
async function markExpiry(account: string, screenshot: Screenshot, { storage, ring }: ArchiveWriter): Promise<void> {
  const { retentionDays } = screenshot.spec
  if (retentionDays === undefined || screenshot.status?.phase !== 'Completed') return
  const id = screenshotIdOf(screenshot.metadata)
  const key = expiryKey(account, id, keptUntil(createdAtOf(id), retentionDays))
  await storage.write(key, signMarker(key, ring))
}
