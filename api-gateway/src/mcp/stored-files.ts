import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { type ArtifactType, artifactsOf } from '@tintype/crds/options/artifacts'
import { CONTENT_TYPES } from '@tintype/crds/options/output/formats'
import { accountOf } from '@tintype/crds/records/record'
import { objectKey } from '@tintype/crds/records/storage-keys'
import { readBeginning } from '@tintype/crds/runtime/limited-read'
import { findRecord, type RecordDeps } from '../archive/find-record.ts'
import { notFound } from '../common/errors.ts'
import { type FilesDeps, findFile } from '../resources/files/find-file.ts'

export type StoredFilesDeps = RecordDeps & Pick<FilesDeps, 'screenshots' | 'archive' | 'files' | 'report'>

/** A stored file of a record, with its size. */
export interface StoredPart {
  contentType: string
  sizeBytes: number
  /** Reads `length` bytes from `start` on, fewer at the end of the file. */
  read(start: number, length: number): Promise<Buffer>
}

/** Extension and MIME type of the picture, or of a file beside it; undefined if the options of the record did not request it. */
function formOf(
  { spec: { options = {} } }: Screenshot,
  type: ArtifactType | 'picture',
): { extension: string; contentType: string } | undefined {
  if (type !== 'picture') return artifactsOf(options).find((artifact) => artifact.type === type)
  const { format = 'png' } = options
  return { extension: format, contentType: CONTENT_TYPES[format] }
}

/**
 * Opens a file of an account's record.
 * @returns undefined if the record has no such file
 * @throws ApiError NOT_FOUND for an unknown record, EXPIRED when the file is gone
 */
export async function openPart(
  account: string,
  id: string,
  type: ArtifactType | 'picture',
  deps: StoredFilesDeps,
): Promise<StoredPart | undefined> {
  const found = await findRecord(account, id, deps)
  if (!found) throw notFound('screenshot')
  const { screenshot } = found
  const form = formOf(screenshot, type)
  if (!form) return undefined
  const parts = { account: accountOf(screenshot), id: screenshotIdOf(screenshot.metadata), extension: form.extension }
  const { sizeBytes } = await findFile(parts, deps)
  const key = objectKey(parts.account, parts.id, parts.extension)
  return {
    contentType: form.contentType,
    sizeBytes,
    read: async (start, length) => {
      const end = Math.min(start + length, sizeBytes) - 1
      if (end < start) return Buffer.alloc(0)
      const stream = await deps.files.open(key, { start, end })
      return stream ? readBeginning(stream, end - start + 1) : Buffer.alloc(0)
    },
  }
}
