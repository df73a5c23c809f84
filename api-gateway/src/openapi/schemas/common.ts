import { z } from 'zod'

/** Text of 26 lower-case base32 letters that every id ends with. */
const TAIL = '[0-7][0-9a-hjkmnp-tv-z]{25}'

/** An id with its prefix. */
export const anId = (prefix: 'scr' | 'wh' | 'key' | 'batch' | 'evt' | 'dlv', what: string) =>
  z
    .string()
    .regex(new RegExp(`^${prefix}_${TAIL}$`))
    .describe(what)

/** A timestamp: ISO 8601 in UTC with milliseconds. */
export const instant = (what: string) =>
  z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
    .meta({ format: 'date-time' })
    .describe(what)

export const count = (what: string) => z.int().min(0).describe(what)

export const success = z.literal(true)
