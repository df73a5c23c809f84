import { isSignedMarker, type KeyRing, keptUntil, signMarker } from '../src/crypto/signatures.ts'
import { createdAtOf, screenshotIdOf } from '../src/identifiers/ids.ts'
import type { Screenshot } from '../src/kinds/screenshot.ts'
import { readArchived, toLines, toSegments } from '../src/records/archive.ts'
import { parseKeys, type ReportIgnored } from '../src/records/ignored-objects.ts'
import { digestOf, hasOwnName, type NamedRecord } from '../src/records/named-record.ts'
import {
  dayOf,
  expiryKey,
  JOIN,
  namedRecordKey,
  recordKey,
  rewriteKey,
  type SegmentName,
  tombstoneKey,
  tombstonesPrefix,
} from '../src/records/storage-keys.ts'
import { mapConcurrently } from '../src/runtime/lists.ts'
import type { Whole } from '../src/schema/custom-resource.ts'
import { type ObjectStorage, PAGE } from './port.ts'
import { readParsed, readStored, type StoredReader } from './stored-objects.ts'

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

interface ArchiveWriter {
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

// Marks of deleted records. A mark hides its record from every reader. Only a signed one deletes data: docs/adr/0028-validate-objects-from-the-bucket.md.

const CONCURRENT_READS = 16

/** Dependencies for checking marks. */
export interface MarkChecks {
  /** Signs and verifies marks of this release. */
  ring: KeyRing
  /** Called for objects that are treated as absent. */
  report: ReportIgnored
}

interface Lister {
  storage: Pick<ObjectStorage, 'list'>
  report: ReportIgnored
}

type Writer = (key: string, text: string) => Promise<unknown>

/** Writes the mark that a record is deleted. */
export async function writeTombstone(account: string, id: string, { storage, ring }: { storage: { write: Writer }; ring: KeyRing }) {
  const key = tombstoneKey(account, id)
  await storage.write(key, signMarker(key, ring))
}

/** Requests that the operator removes a deleted record from its segments. */
export async function requestRewrite(account: string, id: string, { storage }: { storage: { write: Writer } }): Promise<void> {
  await storage.write(rewriteKey(account, dayOf(id), id), '')
}

/** Whether a record is marked as deleted, with or without a valid signature. */
export const isDeleted = (account: string, id: string, storage: Pick<ObjectStorage, 'exists'>): Promise<boolean> =>
  storage.exists(tombstoneKey(account, id))

/** Whether a program of this release marked a record as deleted. A mark without a signature deletes nothing: it only hides the record. */
export async function isDeletionConfirmed(
  account: string,
  id: string,
  { storage, ring, report }: MarkChecks & { storage: Pick<ObjectStorage, 'readText'> },
): Promise<boolean> {
  const key = tombstoneKey(account, id)
  const text = await readStored('tombstone', key, { storage, report })
  if (text === undefined) return false
  const isSigned = isSignedMarker(key, text, ring)
  if (!isSigned && text !== '') report({ kind: 'tombstone', reason: 'content', key })
  return isSigned
}

/** Ids that a program of this release marked as deleted. */
export async function findDeleted(
  account: string,
  ids: readonly string[],
  deps: MarkChecks & { storage: Pick<ObjectStorage, 'list' | 'readText'> },
): Promise<Set<string>> {
  const deleted = new Set<string>()
  await mapConcurrently([...(await findTombstones(account, ids, deps))], CONCURRENT_READS, async (id) => {
    if (await isDeletionConfirmed(account, id, deps)) deleted.add(id)
  })
  return deleted
}

/** Ids that are marked as deleted, with or without a valid signature. The ids may be in any order. */
export async function findTombstones(account: string, ids: readonly string[], lister: Lister): Promise<Set<string>> {
  const tombstoned = new Set<string>()
  for (const [day, wanted] of Map.groupBy([...ids].sort(), dayOf)) {
    const tombstones = new Tombstones(account, day, lister)
    for (const id of wanted) if (await tombstones.has(id)) tombstoned.add(id)
  }
  return tombstoned
}

/** Deleted records of a day. Lists up to a thousand tombstones at a time, on demand. */
export class Tombstones {
  readonly #prefix: string
  readonly #lister: Lister
  #ids: ReadonlySet<string>
  /** The range of known ids: after `#from`, up to `#until`. Undefined means up to the end. */
  #from = ''
  #until: string | undefined

  /** @param known all ids of the day, if they are known */
  constructor(account: string, day: string, lister: Lister, known?: ReadonlySet<string>) {
    this.#prefix = tombstonesPrefix(account, day)
    this.#lister = lister
    this.#ids = known ?? new Set()
    this.#until = known ? undefined : ''
  }

  async has(id: string): Promise<boolean> {
    const isKnown = id > this.#from && (this.#until === undefined || id <= this.#until)
    if (!isKnown) await this.#listAround(id)
    return this.#ids.has(id)
  }

  /** Lists from just before the id, because callers ask for the following ids next. */
  async #listAround(id: string): Promise<void> {
    const { storage, report } = this.#lister
    // Shorter than an id, so that the id itself is listed.
    this.#from = id.slice(0, -1)
    const keys = await storage.list(this.#prefix, { after: this.#prefix + this.#from, limit: PAGE })
    this.#ids = new Set(parseKeys('tombstone', keys, report).map((place) => place.id))
    this.#until = keys.length < PAGE ? undefined : keys.at(-1)!.slice(this.#prefix.length)
  }
}

/** What listed keys of archived records name. */
interface RecordKeys {
  /** Ids of records. */
  ids: string[]
  segments: SegmentName[]
  /** Ids of deleted records. */
  deletedIds: string[]
}

/** Reads the keys below `records/`. Reports those that Tintype does not write. */
export function readRecordKeys(keys: readonly string[], report: ReportIgnored): RecordKeys {
  const { one = [], segments = [], tombstones = [], ...others } = Object.groupBy(keys, (key) => key.split('/', 4)[3] ?? '')
  for (const key of Object.values(others).flatMap((group = []) => group)) report({ kind: 'record', reason: 'key', key })
  return {
    ids: parseKeys('record', one, report).map(({ id }) => id),
    segments: parseKeys('segment', segments, report),
    deletedIds: parseKeys('tombstone', tombstones, report).map(({ id }) => id),
  }
}
