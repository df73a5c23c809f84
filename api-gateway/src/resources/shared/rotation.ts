import { z } from 'zod'
import { ApiError } from '../../common/errors.ts'
import { type BodyDocumentation, jsonBody } from '../../http/body.ts'
import { isAhead, name } from '../../http/fields.ts'

// Rotation of keys and signing secrets.

const DEFAULT_OVERLAP_HOURS = 24
const HOUR_MILLISECONDS = 3_600_000

/** Body of the rotation requests. */
export const RotateBody = name(
  'RotateSecret',
  z
    .strictObject({
      overlap_hours: z
        .int()
        .min(0)
        .max(168)
        .optional()
        .describe('Hours for which the previous key or secret stays valid, 0 to 168. Default: 24.'),
      force: z.boolean().optional().describe('True ends a running overlap of an earlier rotation.'),
    })
    .describe('How long the replaced key or secret stays valid.'),
)
export type RotateBody = z.infer<typeof RotateBody>

export const rotateBody = (examples: BodyDocumentation['examples']) => jsonBody({ schema: RotateBody, required: false, examples })

/** When the replaced secret or key becomes invalid. Undefined: immediately. */
export function overlapEnd({ overlap_hours = DEFAULT_OVERLAP_HOURS }: RotateBody, now: Date): Date | undefined {
  return overlap_hours === 0 ? undefined : new Date(now.getTime() + overlap_hours * HOUR_MILLISECONDS)
}

/**
 * Refuses a rotation during the overlap of an earlier one, unless `force` ends it.
 * @param running what is still valid, the field that names its end, and that end
 * @throws ApiError ROTATION_IN_PROGRESS
 */
export function assertNoOverlap(running: { what: string; field: string; end: string | undefined }, { force }: RotateBody, now: Date): void {
  const { what, field, end } = running
  if (!isAhead(end, now) || force === true) return
  throw new ApiError('ROTATION_IN_PROGRESS', `${what}: send force true to end it`, { details: { [field]: end } })
}
