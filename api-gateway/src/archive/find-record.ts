import { isScreenshotId } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { ApiError, isUnavailable } from '../common/errors.ts'
import type { RecordArchive, ScreenshotStore } from '../store/ports.ts'

/** Sources of records. */
export interface RecordDeps {
  screenshots: Pick<ScreenshotStore, 'find' | 'findLatest' | 'findLive'>
  archive: Pick<RecordArchive, 'find'>
}

/** A record and its source. */
export interface FoundRecord {
  screenshot: Screenshot
  isLive: boolean
}

export interface Reading {
  /** Asks the API server, because another replica may have deleted the record a moment ago. The informer cache would still show it. */
  isLatest?: boolean
}

/** @returns an error while the API server is unavailable and the cache does not have the record */
const findLive = (id: string, { screenshots }: RecordDeps, { isLatest = false }: Reading): Promise<Screenshot | ApiError | undefined> =>
  (isLatest ? screenshots.findLatest(id) : screenshots.find(id)).catch((error: unknown) => {
    if (isUnavailable(error)) return screenshots.findLive(id) ?? error
    throw error
  })

/**
 * An account's record. The Kubernetes API is read before the archive, because archiving writes a record to the bucket before it deletes the object.
 * In this order no record is missed.
 * @throws ApiError SERVICE_UNAVAILABLE when a source is unavailable that may have the record
 */
export async function findRecord(account: string, id: string, deps: RecordDeps, reading: Reading = {}): Promise<FoundRecord | undefined> {
  if (!isScreenshotId(id)) return undefined
  const live = await findLive(id, deps, reading)
  if (live !== undefined && !(live instanceof ApiError)) {
    return accountOf(live) === account ? { screenshot: live, isLive: true } : undefined
  }
  const archived = await deps.archive.find(account, id)
  if (archived !== undefined) return { screenshot: archived, isLive: false }
  if (live instanceof ApiError) throw live
  return undefined
}
