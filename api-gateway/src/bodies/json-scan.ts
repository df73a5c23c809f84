// Bounds nesting and the number of values of a JSON text while its bytes arrive. A few megabytes of small values become hundreds of megabytes of objects,
// and a parser cannot be stopped. This is no parser: it finds strings, brackets, commas and colons, and JSON.parse reports errors of syntax.

/** Maximum levels of nested objects and lists. */
export const MAX_DEPTH = 32
/** Maximum values: objects, lists, texts, numbers, true, false and null. Names of fields do not count. */
export const MAX_VALUES = 20_000

/** What is wrong with the bytes so far. `encoding`: no JSON text in UTF-8 has these bytes, but texts in UTF-16 and UTF-32 do. */
export type ScanProblem = 'depth' | 'values' | 'encoding'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LETTER_U = 0x75
/** A character as `\uXXXX` has six bytes, and at most three in UTF-8. */
const SAVED_BYTES = 3

const [SPACE, SCALAR, TEXT, OPEN, CLOSE, COMMA, COLON, FOREIGN] = [0, 1, 2, 3, 4, 5, 6, 7]
/** What each byte means outside of texts. */
const KINDS = new Uint8Array(256).fill(SCALAR)
for (const [kind, bytes] of [
  // Three of these are the byte order mark of UTF-8.
  [SPACE, [0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]],
  [TEXT, [QUOTE]],
  [OPEN, [0x7b, 0x5b]],
  [CLOSE, [0x7d, 0x5d]],
  [COMMA, [0x2c]],
  [COLON, [0x3a]],
  [FOREIGN, [0x00, 0xfe, 0xff]],
] as const)
  for (const byte of bytes) KINDS[byte] = kind

/** Bytes of a text that are compared one by one before the search for its end is left to Node.js, which pays for long texts only. */
const NEAR_BYTES = 48

/** Scans one text. */
export class JsonScan {
  #depth = 0
  #values = 0
  #isInText = false
  #isEscaped = false
  #isInScalar = false
  /** 1 after a text that can still be the name of a field. */
  #pending = 0
  #bytes = 0
  #savedBytes = 0

  /** Size of the bytes so far if each `\uXXXX` is a character in UTF-8. */
  get utf8Bytes(): number {
    return this.#bytes - this.#savedBytes
  }

  /** Scans the next bytes. Returns the first problem. */
  add(bytes: Buffer): ScanProblem | undefined {
    const { length } = bytes
    this.#bytes += length
    const search = { quote: -1, backslash: -1 }
    for (let index = 0; index < length; index++) {
      if (this.#isInText) index = this.#skipText(bytes, index, search)
      else {
        const problem = this.#addByte(KINDS[bytes[index] as number] as number)
        if (problem) return problem
      }
    }
    return undefined
  }

  /** Skips to the end of a text. Returns the index of its last byte in these bytes. */
  #skipText(bytes: Buffer, start: number, search: { quote: number; backslash: number }): number {
    const { length } = bytes
    let index = start
    if (this.#isEscaped) this.#addEscape(bytes[index++])
    while (index < length) {
      const near = Math.min(index + NEAR_BYTES, length)
      let byte = 0
      while (index < near) {
        byte = bytes[index++] as number
        if (byte === QUOTE || byte === BACKSLASH) break
      }
      if (byte === QUOTE) {
        this.#isInText = false
        this.#pending = 1
        return index - 1
      }
      if (byte === BACKSLASH) {
        // The escaped byte can be the first of the next chunk.
        if (index < length) this.#addEscape(bytes[index++])
        else this.#isEscaped = true
      } else if (index < length) index = skipPlain(bytes, index, search)
    }
    return length
  }

  #addEscape(byte: number | undefined): void {
    this.#isEscaped = false
    if (byte === LETTER_U) this.#savedBytes += SAVED_BYTES
  }

  #addByte(kind: number): ScanProblem | undefined {
    if (kind === SPACE) {
      this.#isInScalar = false
      return undefined
    }
    if (kind === SCALAR) {
      if (!this.#isInScalar) this.#values++
      this.#isInScalar = true
    } else {
      this.#isInScalar = false
      if (kind !== COLON) this.#values += this.#pending
      this.#pending = 0
      if (kind === TEXT) this.#isInText = true
      else if (kind === OPEN) {
        this.#values++
        if (++this.#depth > MAX_DEPTH) return 'depth'
      } else if (kind === CLOSE) this.#depth--
      else if (kind === FOREIGN) return 'encoding'
    }
    return this.#values > MAX_VALUES ? 'values' : undefined
  }
}

/** Index of the next quote or backslash. What was found beyond it is kept in `search`, so that all searches together read each byte twice at most. */
function skipPlain(bytes: Buffer, index: number, search: { quote: number; backslash: number }): number {
  if (search.quote < index) search.quote = indexOf(bytes, QUOTE, index)
  if (search.backslash < index) search.backslash = indexOf(bytes, BACKSLASH, index)
  return Math.min(search.quote, search.backslash)
}

function indexOf(bytes: Buffer, byte: number, start: number): number {
  const index = bytes.indexOf(byte, start)
  return index < 0 ? bytes.length : index
}
