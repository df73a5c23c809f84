import { isScreenshotId } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { ApiError } from '../common/errors.ts'
import type { RecordArchive, ScreenshotStore } from '../store/ports.ts'

/** Sources of records. */
export interface RecordDeps {
  screenshots: Pick<ScreenshotStore, 'findLatest' | 'findLive'>
  archive: Pick<RecordArchive, 'find'>
}

/** A record and its source. */
export interface FoundRecord {
  screenshot: Screenshot
  isLive: boolean
}

const isUnavailable = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE'

/**
 * The live record from the API server, because another replica may have deleted it a moment ago, and the informer cache still shows it. While the API
 * server is unavailable, the record of the cache, or else the error.
 */
const findLive = (id: string, screenshots: RecordDeps['screenshots']): Promise<Screenshot | ApiError | undefined> =>
  screenshots.findLatest(id).catch((error: unknown) => {
    if (isUnavailable(error)) return screenshots.findLive(id) ?? error
    throw error
  })

/**
 * An account's record. The Kubernetes API is read before the archive, because archiving writes a record to the bucket before it deletes the object.
 * In this order no record is missed.
 * @throws ApiError SERVICE_UNAVAILABLE when a source is unavailable that may have the record
 */
export async function findRecord(account: string, id: string, { screenshots, archive }: RecordDeps): Promise<FoundRecord | undefined> {
  if (!isScreenshotId(id)) return undefined
  const live = await findLive(id, screenshots)
  if (live !== undefined && !(live instanceof ApiError)) {
    return accountOf(live) === account ? { screenshot: live, isLive: true } : undefined
  }
  const archived = await archive.find(account, id)
  if (archived !== undefined) return { screenshot: archived, isLive: false }
  if (live instanceof ApiError) throw live
  return undefined
}
