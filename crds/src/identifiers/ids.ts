import { createHash, randomBytes } from 'node:crypto'
import { isApiKeyIdName, isScheduleIdName, isScreenshotIdName, isWebhookIdName, toId } from './names.ts'

// Ids have the layout of a ULID: 48 bits of time and 80 random bits, in 26 letters of Crockford's base32. Ids of screenshots contain the inverted
// time, so that names, keys and list pages sort newest first.

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_BITS = 48n
const RANDOM_BITS = 80n
const MAX_TIME = (1n << TIME_BITS) - 1n
const RANDOM_BYTES = 10
const LENGTH = 26
const TIME_LETTERS = 10

export type IdPrefix = 'scr' | 'wh' | 'evt' | 'key' | 'dlv' | 'batch' | 'acc' | 'res' | 'sch'

function encode(value: bigint): string {
  let text = ''
  for (let rest = value, i = 0; i < LENGTH; i++, rest >>= 5n) text = ALPHABET[Number(rest & 31n)] + text
  return text
}

/** Decodes the first ten letters, which contain exactly the 48 bits of time, so that a number is precise enough. */
function decodeTime(text: string): number {
  let value = 0
  for (const letter of text.slice(0, TIME_LETTERS)) value = value * 32 + ALPHABET.indexOf(letter)
  return value
}

/**
 * Creates an id: prefix, `_`, 26 lower-case base32 letters.
 * @param at the time in the id, to the millisecond
 * @param random 10 bytes: random by default, or a hash for an id that must be reproducible
 */
export function newId(prefix: IdPrefix, at: Date, random: Uint8Array = randomBytes(RANDOM_BYTES)): string {
  const time = BigInt(at.getTime())
  const carried = prefix === 'scr' ? MAX_TIME - time : time
  const tail = BigInt(`0x${Buffer.from(random.subarray(0, RANDOM_BYTES)).toString('hex')}`)
  return `${prefix}_${encode((carried << RANDOM_BITS) | tail)}`
}

/** Derives an id from a seed, so that the same event or object gets the same id after a restart. */
export function derivedId(prefix: IdPrefix, at: Date, seed: string): string {
  return newId(prefix, at, createHash('sha256').update(seed).digest())
}

const SCREENSHOT_ID = /^scr_[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** True for text in the form of a screenshot id. */
export const isScreenshotId = (text: string): boolean => SCREENSHOT_ID.test(text)

const BATCH_ID = /^batch_[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** True for text in the form of a batch id. */
export const isBatchId = (text: string): boolean => BATCH_ID.test(text)

/** The time in an id. Screenshot ids contain it inverted. */
export function createdAtOf(id: string): Date {
  const [prefix, text = ''] = id.split('_')
  const carried = decodeTime(text)
  return new Date(prefix === 'scr' ? Number(MAX_TIME) - carried : carried)
}

/** Maximum lead of the clock that created an id. Stores refuse signatures at a smaller difference. */
export const MAX_CLOCK_DIFFERENCE_MILLISECONDS = 3_600_000

/**
 * True if an id is not from the future. Users can choose object names, and therefore the time in an id. An id from the future would be
 * first in every list and would never expire.
 */
export const isPlausibleId = (id: string, now: Date): boolean =>
  createdAtOf(id).getTime() <= now.getTime() + MAX_CLOCK_DIFFERENCE_MILLISECONDS

export interface Identified {
  name: string
  uid: string
  creationTimestamp: string
}

/**
 * The id of a Screenshot object: from its name, or derived from its creation time and uid. It is derived if a person chose the name, even if the
 * name looks like an id but its time is later than the object's creation.
 */
export function screenshotIdOf({ name, uid, creationTimestamp }: Identified): string {
  const created = new Date(creationTimestamp)
  if (isScreenshotIdName(name) && isPlausibleId(toId(name), created)) return toId(name)
  return derivedId('scr', created, uid)
}

/** Returns the id of an object: from its name, or, if a person chose the name, derived from its creation time and uid. */
const idIn =
  (prefix: IdPrefix, isIdName: (name: string) => boolean) =>
  ({ name, uid, creationTimestamp }: Identified): string =>
    isIdName(name) ? toId(name) : derivedId(prefix, new Date(creationTimestamp), uid)
export const webhookIdOf = idIn('wh', isWebhookIdName)
export const scheduleIdOf = idIn('sch', isScheduleIdName)
export const apiKeyIdOf = idIn('key', isApiKeyIdName)
