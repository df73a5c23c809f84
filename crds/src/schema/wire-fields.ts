import { z } from 'zod'

// Fields of records in the REST API and in events.

/** Text of 26 lower-case base32 letters that every id ends with. */
const TAIL = '[0-7][0-9a-hjkmnp-tv-z]{25}'

/** An id with its prefix. */
export const anId = (prefix: 'scr' | 'wh' | 'key' | 'sch' | 'batch' | 'evt' | 'dlv', what: string) =>
  z
    .string()
    .regex(new RegExp(`^${prefix}_${TAIL}$`), `must be an id that begins with ${prefix}_ and has 26 letters and digits after it`)
    .describe(what)

/** A timestamp: ISO 8601 in UTC with milliseconds. */
export const instant = (what: string) =>
  z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
    .meta({ format: 'date-time' })
    .describe(what)

export const count = (what: string) => z.int().min(0).describe(what)
