import { createHash, randomBytes } from 'node:crypto'
import { isApiKeyIdName, isScreenshotIdName, isWebhookIdName, toId } from './names.ts'

// 48 bits of time and 80 of chance in 26 letters of Crockford's base32, as a ULID has them. Screenshots carry the time inverted,
// so that the natural order of names, keys and list pages is newest first.

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_BITS = 48n
const RANDOM_BITS = 80n
const MAX_TIME = (1n << TIME_BITS) - 1n
const RANDOM_BYTES = 10
const LENGTH = 26
const TIME_LETTERS = 10

export type IdPrefix = 'scr' | 'wh' | 'evt' | 'key' | 'dlv' | 'batch' | 'acc' | 'res'

function encode(value: bigint): string {
  let text = ''
  for (let rest = value, i = 0; i < LENGTH; i++, rest >>= 5n) text = ALPHABET[Number(rest & 31n)] + text
  return text
}

/** The first ten letters are exactly the 48 bits of time: no larger number is needed. */
function decodeTime(text: string): number {
  let value = 0
  for (const letter of text.slice(0, TIME_LETTERS)) value = value * 32 + ALPHABET.indexOf(letter)
  return value
}

/**
 * Makes an id: prefix, `_`, 26 lower-case base32 letters.
 * @param at the instant the id carries, to the millisecond
 * @param random 10 bytes; chance by default, a hash where the id must be the same each time it is computed
 */
export function newId(prefix: IdPrefix, at: Date, random: Uint8Array = randomBytes(RANDOM_BYTES)): string {
  const time = BigInt(at.getTime())
  const carried = prefix === 'scr' ? MAX_TIME - time : time
  const tail = BigInt(`0x${Buffer.from(random.subarray(0, RANDOM_BYTES)).toString('hex')}`)
  return `${prefix}_${encode((carried << RANDOM_BITS) | tail)}`
}

/** An id that is a pure function of its seed: the same event or object gets the same id whatever restarts. */
export function derivedId(prefix: IdPrefix, at: Date, seed: string): string {
  return newId(prefix, at, createHash('sha256').update(seed).digest())
}

const SCREENSHOT_ID = /^scr_[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** True for text of the form that {@link newId} gives a screenshot. */
export const isScreenshotId = (text: string): boolean => SCREENSHOT_ID.test(text)

const BATCH_ID = /^batch_[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** True for text of the form that {@link newId} gives a batch. */
export const isBatchId = (text: string): boolean => BATCH_ID.test(text)

/** The instant that an id carries; a screenshot's has it inverted. */
export function createdAtOf(id: string): Date {
  const [prefix, text = ''] = id.split('_')
  const carried = decodeTime(text)
  return new Date(prefix === 'scr' ? Number(MAX_TIME) - carried : carried)
}

/** By how much the clock that dated an id may be ahead of the one that it is compared with. Stores refuse signatures long before that. */
export const MAX_CLOCK_DIFFERENCE_MILLISECONDS = 3_600_000

/**
 * True when an id may have been made by now. Anyone who could choose a name could once choose its time as well: an id of a later time would head
 * every list and never expire.
 */
export const isPlausibleId = (id: string, now: Date): boolean =>
  createdAtOf(id).getTime() <= now.getTime() + MAX_CLOCK_DIFFERENCE_MILLISECONDS

export interface Identified {
  name: string
  uid: string
  creationTimestamp: string
}

/**
 * The id of a Screenshot object: its name's, or one computed from its creation time and uid. The latter is for names that a person chose, also where
 * such a name has the form of an id of a time at which the object did not exist.
 */
export function screenshotIdOf({ name, uid, creationTimestamp }: Identified): string {
  const created = new Date(creationTimestamp)
  if (isScreenshotIdName(name) && isPlausibleId(toId(name), created)) return toId(name)
  return derivedId('scr', created, uid)
}

/** The id of a Webhook object: its name's, or, for a name that a person chose, one computed from its creation time and uid. */
export function webhookIdOf({ name, uid, creationTimestamp }: Identified): string {
  return isWebhookIdName(name) ? toId(name) : derivedId('wh', new Date(creationTimestamp), uid)
}

/** The id of an ApiKey object: its name's, or, for a name that a person chose, one computed from its creation time and uid. */
export function apiKeyIdOf({ name, uid, creationTimestamp }: Identified): string {
  return isApiKeyIdName(name) ? toId(name) : derivedId('key', new Date(creationTimestamp), uid)
}
