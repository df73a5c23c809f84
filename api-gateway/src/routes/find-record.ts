import { isScreenshotId } from '@tintype/crds/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/record'
import { ApiError } from '../errors.ts'
import type { RecordArchive, ScreenshotStore } from '../store/ports.ts'

/** Where records are. */
export interface RecordDeps {
  screenshots: Pick<ScreenshotStore, 'find'>
  archive: Pick<RecordArchive, 'find'>
}

/** A record and where it was found. */
export interface FoundRecord {
  screenshot: Screenshot
  isLive: boolean
}

const isUnavailable = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE'

/**
 * An account's record, live or archived, in this order: it is written to the archive before it leaves the Kubernetes API, so that it is
 * found wherever it is on its way.
 * @throws ApiError SERVICE_UNAVAILABLE when it may be where nobody can look
 */
export async function findRecord(account: string, id: string, { screenshots, archive }: RecordDeps): Promise<FoundRecord | undefined> {
  if (!isScreenshotId(id)) return undefined
  const live = await screenshots.find(id).catch((error: unknown) => {
    if (isUnavailable(error)) return error
    throw error
  })
  if (live !== undefined && !(live instanceof ApiError)) {
    return accountOf(live) === account ? { screenshot: live, isLive: true } : undefined
  }
  const archived = await archive.find(account, id)
  if (archived !== undefined) return { screenshot: archived, isLive: false }
  if (live instanceof ApiError) throw live
  return undefined
}
