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

export type IdPrefix = 'scr' | 'wh' | 'evt' | 'key' | 'dlv' | 'batch' | 'acc' | 'res'

function encode(value: bigint): string {
  let text = ''
  for (let rest = value, i = 0; i < LENGTH; i++, rest >>= 5n) text = ALPHABET[Number(rest & 31n)] + text
  return text
}

function decode(text: string): bigint {
  let value = 0n
  for (const letter of text) value = (value << 5n) | BigInt(ALPHABET.indexOf(letter))
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
  const carried = decode(text) >> RANDOM_BITS
  return new Date(Number(prefix === 'scr' ? MAX_TIME - carried : carried))
}

export interface Identified {
  name: string
  uid: string
  creationTimestamp: string
}

/** The id of a Screenshot object: its name's, or, for a name that a person chose, one computed from its creation time and uid. */
export function screenshotIdOf({ name, uid, creationTimestamp }: Identified): string {
  return isScreenshotIdName(name) ? toId(name) : derivedId('scr', new Date(creationTimestamp), uid)
}

/** The id of a Webhook object: its name's, or, for a name that a person chose, one computed from its creation time and uid. */
export function webhookIdOf({ name, uid, creationTimestamp }: Identified): string {
  return isWebhookIdName(name) ? toId(name) : derivedId('wh', new Date(creationTimestamp), uid)
}

/** The id of an ApiKey object: its name's, or, for a name that a person chose, one computed from its creation time and uid. */
export function apiKeyIdOf({ name, uid, creationTimestamp }: Identified): string {
  return isApiKeyIdName(name) ? toId(name) : derivedId('key', new Date(creationTimestamp), uid)
}
