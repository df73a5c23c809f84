// Finds the ends of blocks in a deflate stream (RFC 1951) without decompressing it, which node:zlib does not offer.

const BASE_LENGTHS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258]
const LENGTH_EXTRA_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0]
const DISTANCE_EXTRA_BITS = Array.from({ length: 30 }, (_, code) => Math.max(0, (code >> 1) - 1))
/** The order in which a block lists the code lengths of the code length alphabet. */
const LENGTHS_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
/** Codes that repeat a length: minimum count, and number of extra bits. */
const REPEATS: Readonly<Record<number, readonly [least: number, bits: number]>> = { 16: [3, 2], 17: [3, 3], 18: [11, 7] }
const END_OF_BLOCK = 256
const MAX_CODE_BITS = 15
const STORED = 0
const FIXED = 1
const DYNAMIC = 2

/** A position between two blocks of a deflate stream. */
export interface BlockEnd {
  /** Number of compressed bytes before it. */
  offset: number
  /** Number of uncompressed bytes before it. */
  length: number
}

/**
 * Finds the first block that ends on a byte boundary after at least `least` uncompressed bytes.
 * @returns undefined if the stream is malformed, or its last block comes first
 */
export function findBlockEnd(stream: Uint8Array, least: number): BlockEnd | undefined {
  const bits = new Bits(stream)
  let length = 0
  for (;;) {
    const isLast = bits.take(1) === 1
    const blockLength = skipBlock(bits)
    if (isLast || blockLength === undefined || bits.isPastEnd) return undefined
    length += blockLength
    if (length >= least && bits.position % 8 === 0) return { offset: bits.position / 8, length }
  }
}

/** Skips one block. Returns its uncompressed size; undefined: it is malformed. */
function skipBlock(bits: Bits): number | undefined {
  switch (bits.take(2)) {
    case STORED:
      return bits.skipStored()
    case FIXED:
      return bits.skipCodes(FIXED_CODES, FIXED_DISTANCES)
    case DYNAMIC:
      return skipDynamic(bits)
    default:
      return undefined
  }
}

function skipDynamic(bits: Bits): number | undefined {
  const codeCount = bits.take(5) + 257
  const distanceCount = bits.take(5) + 1
  const orderCount = bits.take(4) + 4
  const lengthsOfLengths = new Uint8Array(LENGTHS_ORDER.length)
  for (const code of LENGTHS_ORDER.slice(0, orderCount)) lengthsOfLengths[code] = bits.take(3)
  const table = toTable(lengthsOfLengths)
  const lengths = new Uint8Array(codeCount + distanceCount)
  for (let at = 0; at < lengths.length; ) {
    const code = bits.takeCode(table)
    if (code === undefined) return undefined
    const [least, extra] = REPEATS[code] ?? [1, 0]
    const value = code < 16 ? code : code === 16 ? (lengths[at - 1] ?? 0) : 0
    const end = at + least + bits.take(extra)
    lengths.fill(value, at, end)
    at = end
  }
  return bits.skipCodes(toTable(lengths.subarray(0, codeCount)), toTable(lengths.subarray(codeCount)))
}

/** Maps the next {@link MAX_CODE_BITS} bits to a symbol, with the code's length in the lowest four bits; 0 for no code. */
type Table = Uint16Array

function toTable(lengths: Uint8Array): Table {
  const table = new Uint16Array(1 << MAX_CODE_BITS)
  let code = 0
  for (let length = 1; length <= MAX_CODE_BITS; length++) {
    for (let symbol = 0; symbol < lengths.length; symbol++) {
      if (lengths[symbol] !== length) continue
      // Codes have their highest bit first, everything else the lowest.
      const step = 1 << length
      for (let at = reverse(code, length); at < table.length; at += step) table[at] = (symbol << 4) | length
      code++
    }
    code <<= 1
  }
  return table
}

function reverse(code: number, length: number): number {
  let reversed = 0
  for (let bit = 0; bit < length; bit++) reversed |= ((code >> bit) & 1) << (length - 1 - bit)
  return reversed
}

const FIXED_CODES = toTable(Uint8Array.from({ length: 288 }, (_, symbol) => (symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8)))
const FIXED_DISTANCES = toTable(new Uint8Array(30).fill(5))

/** Reads a stream bit by bit, least significant bit first. */
class Bits {
  readonly #stream: Uint8Array
  position = 0

  constructor(stream: Uint8Array) {
    this.#stream = stream
  }

  get isPastEnd(): boolean {
    return this.position > this.#stream.length * 8
  }

  take(count: number): number {
    const value = this.#peek() & ((1 << count) - 1)
    this.position += count
    return value
  }

  takeCode(table: Table): number | undefined {
    const entry = table[this.#peek() & (table.length - 1)] ?? 0
    this.position += entry & 15
    return entry === 0 ? undefined : entry >> 4
  }

  /** Skips a stored block: its length, the complement of the length, and the data. */
  skipStored(): number | undefined {
    const at = Math.ceil(this.position / 8)
    const length = (this.#stream[at] ?? 0) | ((this.#stream[at + 1] ?? 0) << 8)
    const complement = (this.#stream[at + 2] ?? 0) | ((this.#stream[at + 3] ?? 0) << 8)
    this.position = (at + 4 + length) * 8
    return (length ^ complement) === 0xff_ff ? length : undefined
  }

  /** Skips codes up to the end of the block. */
  skipCodes(codes: Table, distances: Table): number | undefined {
    let length = 0
    while (!this.isPastEnd) {
      const code = this.takeCode(codes)
      if (code === END_OF_BLOCK) return length
      if (code === undefined) return undefined
      if (code < END_OF_BLOCK) {
        length++
        continue
      }
      const kind = code - END_OF_BLOCK - 1
      length += (BASE_LENGTHS[kind] ?? 0) + this.take(LENGTH_EXTRA_BITS[kind] ?? 0)
      const distance = this.takeCode(distances)
      if (distance === undefined) return undefined
      this.position += DISTANCE_EXTRA_BITS[distance] ?? 0
    }
    return undefined
  }

  /** At least the next 17 bits; zeros after the end. */
  #peek(): number {
    const at = this.position >> 3
    const stream = this.#stream
    return ((stream[at] ?? 0) | ((stream[at + 1] ?? 0) << 8) | ((stream[at + 2] ?? 0) << 16)) >> (this.position & 7)
  }
}
