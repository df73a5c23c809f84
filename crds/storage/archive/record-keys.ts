import { parseKeys, type ReportIgnored } from '../../src/records/ignored-objects.ts'
import type { SegmentName } from '../../src/records/storage-keys.ts'

/** What listed keys of archived records name. */
export interface RecordKeys {
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
