import type { CaptureResult, Screenshot } from '@tintype/crds/kinds/screenshot'
import { type Artifact, artifactsOf } from '@tintype/crds/options/artifacts'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { accountOf, toWireStatus } from '@tintype/crds/records/record'
import { type ObjectKeyParts, objectKey } from '@tintype/crds/records/storage-keys'
import type { StoredFile } from '@tintype/crds/storage/port'
import { ApiError, isUnavailable, notFound } from '../../common/errors.ts'
import type { FileStore, KeyRingSource, RecordArchive, ScreenshotStore } from '../../store/ports.ts'
import type { Downloads } from './downloads.ts'

export interface FilesDeps {
  screenshots: Pick<ScreenshotStore, 'find' | 'findLatest'>
  archive: Pick<RecordArchive, 'find' | 'isDeleted'>
  files: FileStore
  downloads: Downloads
  keyRing: KeyRingSource
  now: () => Date
  /** Called for files that do not match their records. */
  report: ReportIgnored
}

type RecordsOfFiles = Pick<FilesDeps, 'screenshots' | 'archive'>

/** True when a stored file is the one that its record names. Other files are never served. */
function isOwnFile(screenshot: Screenshot, { account, id, extension }: ObjectKeyParts, stored: StoredFile, report: ReportIgnored): boolean {
  const { status = {}, spec } = screenshot
  const key = objectKey(account, id, extension)
  const { format = 'png' } = spec.options ?? {}
  const artifact = artifactsOf(spec.options).find((one) => one.extension === extension)
  const recorded = storedAs(status.result, artifact)
  const isKey = accountOf(screenshot) === account && (artifact !== undefined || key === objectKey(account, id, format))
  const isExpected = isKey && toWireStatus(status.phase) === 'completed' && (artifact === undefined || recorded !== undefined)
  const { etag = stored.etag, fileSizeBytes = stored.sizeBytes } = recorded ?? {}
  const isSame = etag.replaceAll('"', '') === stored.etag && fileSizeBytes === stored.sizeBytes
  if (isExpected && !isSame) report({ kind: 'file', reason: 'content', key })
  return isExpected && isSame
}

/** ETag and size of the file as the runner reported them. */
const storedAs = (
  result: CaptureResult | undefined,
  artifact: Artifact | undefined,
): Pick<CaptureResult, 'etag' | 'fileSizeBytes'> | undefined =>
  artifact ? result?.artifacts?.find(({ type }) => type === artifact.type) : result

/**
 * The live record. If it is not completed in the informer cache, it is read from the API server, because another replica may have already sent the
 * link. Returns `unavailable` when the API server does not respond.
 */
async function findLive(id: string, screenshots: FilesDeps['screenshots']): Promise<Screenshot | 'unavailable' | undefined> {
  try {
    const known = await screenshots.find(id)
    return known && toWireStatus(known.status?.phase) !== 'completed' ? await screenshots.findLatest(id) : known
  } catch (error) {
    if (isUnavailable(error)) return 'unavailable'
    throw error
  }
}

/**
 * The stored file for an object key. While the API server is unavailable, a valid signature and the bucket suffice for files of live records.
 * @throws ApiError NOT_FOUND when the record was deleted, EXPIRED when only the file is gone
 */
export async function findFile(parts: ObjectKeyParts, deps: RecordsOfFiles & Pick<FilesDeps, 'files' | 'report'>): Promise<StoredFile> {
  const { account, id, extension } = parts
  const { files } = deps
  const live = await findLive(id, deps.screenshots)
  const screenshot = typeof live === 'object' ? live : await deps.archive.find(account, id)
  if (!screenshot && (live !== 'unavailable' || (await deps.archive.isDeleted(account, id)))) throw notFound('file')
  const stored = await files.stat(objectKey(account, id, extension))
  if (!stored) throw screenshot ? new ApiError('EXPIRED', 'the file has expired and was deleted') : notFound('file')
  if (screenshot && !isOwnFile(screenshot, parts, stored, deps.report)) throw notFound('file')
  return stored
}
