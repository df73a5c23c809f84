import { z } from 'zod'

// The forms of days and times that clients may write. `Date` alone would read February 30 as March 2. The patterns mean the same to Go and JavaScript.

const DAY = z.regexes.date.source.slice(1, -1)
const CLOCK = '([01][0-9]|2[0-3]):[0-5][0-9]'
/** RFC 3339 allows small letters, a space, and any number of digits after the seconds. Seconds may be absent. */
const TIME = `[Tt\\x20]${CLOCK}(:[0-5][0-9](\\.[0-9]+)?)?([Zz]|[-+]${CLOCK})`

/** A time with its zone. */
export const ZONED_TIME = new RegExp(`^${DAY}${TIME}$`)
/** A day, or a time with its zone. */
export const DAY_OR_TIME = new RegExp(`^${DAY}(${TIME})?$`)
