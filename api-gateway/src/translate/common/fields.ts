import { z } from 'zod'

// Fields that several request bodies and records share.

/** Number of code points, as Kubernetes counts. An emoji is one character. */
const lengthOf = (text: string): number => [...text].length

/** Text of limited length. Malformed Unicode is rejected, because it would be stored as different text. */
export const boundedText = (minimum: number, maximum: number) =>
  z
    .string()
    .check(({ value, issues }) => {
      const issue = { origin: 'string', input: value, inclusive: true } as const
      if (lengthOf(value) > maximum) issues.push({ ...issue, code: 'too_big', maximum })
      if (lengthOf(value) < minimum) issues.push({ ...issue, code: 'too_small', minimum })
      if (!value.isWellFormed()) issues.push({ code: 'custom', input: value, message: 'is not well-formed Unicode' })
    })
    .meta({ ...(minimum > 0 ? { minLength: minimum } : {}), maxLength: maximum })

/** A timestamp in a response. */
export const instantField = z.string().meta({ format: 'date-time' })

/** Hours for which the replaced secret or key stays valid, at most a week. */
export const overlapHours = z.int().min(0).max(168)
export const DEFAULT_OVERLAP_HOURS = 24
const HOUR_MILLISECONDS = 3_600_000

/** Body of the rotation requests. */
export const RotateBody = z.strictObject({
  overlap_hours: overlapHours.optional().describe('Hours for which the previous key or secret stays valid, 0 to 168. Default: 24.'),
  force: z.boolean().optional().describe('True ends a running overlap of an earlier rotation.'),
})
export type RotateBody = z.infer<typeof RotateBody>

/** When the replaced secret or key becomes invalid. Undefined: immediately. */
export function overlapEnd({ overlap_hours = DEFAULT_OVERLAP_HOURS }: RotateBody, now: Date): Date | undefined {
  return overlap_hours === 0 ? undefined : new Date(now.getTime() + overlap_hours * HOUR_MILLISECONDS)
}

/** Pagination of a list with a total count. */
export const CountedPagination = z.object({
  limit: z.int().min(1),
  offset: z.int().min(0),
  total: z.int().min(0).describe('Total number of records.'),
  has_more: z.boolean(),
})

/** True when the timestamp is in the future. */
export const isAhead = (instant: string | undefined, now: Date): instant is string => instant !== undefined && new Date(instant) > now
