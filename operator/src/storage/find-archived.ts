import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { readArchived } from '@tintype/crds/records/archived-record'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { recordKey } from '@tintype/crds/records/storage-keys'
import { MAX_OBJECT_BYTES } from '@tintype/crds/records/storage-limits'
import { unlessTooLarge } from '@tintype/crds/storage/checked-read'
import type { Storage } from './storage.ts'

interface ArchiveReader {
  storage: Pick<Storage, 'readText'>
  report: ReportIgnored
  now: () => Date
}

/** Reads the archived record of an id. A malformed or misplaced one is reported and treated as absent. @throws RetryableError */
export async function findArchived(account: string, id: string, { storage, report, now }: ArchiveReader): Promise<Screenshot | undefined> {
  const key = recordKey(account, id)
  const text = await unlessTooLarge('record', key, storage.readText(key, MAX_OBJECT_BYTES.record), report)
  const record = text === undefined ? undefined : readArchived(text, { account, id }, now())
  if (typeof record !== 'string') return record
  report({ kind: 'record', reason: record, key })
  return undefined
}
