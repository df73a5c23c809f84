import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

// The text of an API key: `ttk_`, 30 random base62 characters (178 bits), and a checksum of 6 characters. With the checksum, the gateway refuses
// malformed keys without a lookup.

const PREFIX = 'ttk_'
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 30
const CHECK_LENGTH = 6
const KEY_TEXT = /^ttk_[0-9A-Za-z]{36}$/

function checksum(random: string): string {
  let rest = crc32(random)
  let text = ''
  for (let i = 0; i < CHECK_LENGTH; i++, rest = Math.floor(rest / ALPHABET.length)) text = ALPHABET[rest % ALPHABET.length] + text
  return text
}

/** Creates the text of a new key. */
export function newKeyText(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  return PREFIX + random + checksum(random)
}

/** True for text with a valid form and checksum. The key may still not exist. */
export function isKeyText(text: string): boolean {
  if (!KEY_TEXT.test(text)) return false
  const random = text.slice(PREFIX.length, PREFIX.length + RANDOM_LENGTH)
  return checksum(random) === text.slice(PREFIX.length + RANDOM_LENGTH)
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** SHA-256 of a key's text in lower-case base32, because a hex digest is one character too long for a label. */
export const keyHash = (text: string): string => toBase32(createHash('sha256').update(text).digest())

/** 32 bytes in 52 letters of lower-case base32. */
export function toBase32(digest: Buffer): string {
  let value = BigInt(`0x${digest.toString('hex')}`)
  let letters = ''
  for (let i = 0; i < 52; i++, value >>= 5n) letters = BASE32[Number(value & 31n)] + letters
  return letters
}
