import { z } from 'zod'
import { name } from '../../http/named-schemas.ts'

// Rotation of keys and signing secrets.

/** Hours for which the replaced secret or key stays valid, at most a week. */
export const overlapHours = z.int().min(0).max(168)
export const DEFAULT_OVERLAP_HOURS = 24
const HOUR_MILLISECONDS = 3_600_000

/** Body of the rotation requests. */
export const RotateBody = name(
  'RotateSecret',
  z
    .strictObject({
      overlap_hours: overlapHours.optional().describe('Hours for which the previous key or secret stays valid, 0 to 168. Default: 24.'),
      force: z.boolean().optional().describe('True ends a running overlap of an earlier rotation.'),
    })
    .describe('How long the replaced key or secret stays valid.'),
)
export type RotateBody = z.infer<typeof RotateBody>

/** When the replaced secret or key becomes invalid. Undefined: immediately. */
export function overlapEnd({ overlap_hours = DEFAULT_OVERLAP_HOURS }: RotateBody, now: Date): Date | undefined {
  return overlap_hours === 0 ? undefined : new Date(now.getTime() + overlap_hours * HOUR_MILLISECONDS)
}
