import { createHash } from 'node:crypto'
import { z } from 'zod'
import { createdAtOf, isScreenshotId } from '../identifiers/ids.ts'
import { isScreenshotIdName } from '../identifiers/names.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import type { Whole } from '../schema/custom-resource.ts'
import { canonical } from '../text/json.ts'
import { type IgnoreReason, isFuture, parseStoredJson } from './ignored-objects.ts'
import { accountOf } from './record.ts'

// Archived records by the name of their Screenshot, if a person chose it. With GitOps, the same Screenshot is applied again after its record was
// archived. It then takes the result of the record.

/** The last archived record of a name, in the bucket. */
export const NamedRecord = z.object({
  version: z.literal(1),
  /** Id of the record. */
  id: z.string().refine(isScreenshotId),
  /** {@link digestOf} the spec of the Screenshot. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
})
export type NamedRecord = z.infer<typeof NamedRecord>

/** Reads the object of a name, or returns why it counts as absent. */
export function readNamedRecord(text: string, now: Date): NamedRecord | IgnoreReason {
  const { data } = NamedRecord.safeParse(parseStoredJson(text))
  if (!data) return 'content'
  return isFuture(createdAtOf(data.id), now) ? 'time' : data
}

/** True for a Screenshot whose name a person chose. Names of the programs are never used again. */
export const hasOwnName = ({ metadata }: Pick<Screenshot, 'metadata'>): boolean => !isScreenshotIdName(metadata.name)

/** SHA-256 of a spec in hex. Equal specs have the same one, in whatever order their fields are. */
export const digestOf = ({ spec }: Whole<Pick<Screenshot, 'metadata' | 'spec'>>): string =>
  createHash('sha256')
    .update(JSON.stringify(canonical({ ...spec, accountName: accountOf({ spec }) })))
    .digest('hex')

/**
 * True for a Screenshot that took the result of an archived record. It only shows that record: it has no files, events and record of its own.
 * A runner cannot forge this, because it may not write the field and cannot reset the attempt of its claim.
 */
export const isRestored = ({ status }: Pick<Screenshot, 'status'>): boolean =>
  status?.restoredFrom !== undefined && (status.attempt ?? 0) === 0
