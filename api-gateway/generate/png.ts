import { crc32, deflateSync } from 'node:zlib'

// Draws one line of capital letters as a PNG with two colors, without a library and without a font of the system.

/** Columns of the letters, five each. Bit 0 is the top row of seven. */
const FONT: Readonly<Record<string, string>> = {
  A: '7e1111117e',
  B: '7f49494936',
  C: '3e41414122',
  D: '7f4141221c',
  E: '7f49494941',
  F: '7f09090901',
  G: '3e4149497a',
  H: '7f0808087f',
  I: '00417f4100',
  J: '2040413f01',
  K: '7f08142241',
  L: '7f40404040',
  M: '7f020c027f',
  N: '7f0408107f',
  O: '3e4141413e',
  P: '7f09090906',
  Q: '3e4151215e',
  R: '7f09192946',
  S: '4649494931',
  T: '01017f0101',
  U: '3f4040403f',
  V: '1f2040201f',
  W: '3f4038403f',
  X: '6314081463',
  Y: '0708700807',
  Z: '6151494543',
  ' ': '0000000000',
}

const WIDTH = 640
const HEIGHT = 120
/** Width of a letter with its gap, and its height, in font units. */
const ADVANCE = 6
const ROWS = 7
const SCALE = 4

const PAPER = [0xf3, 0xf4, 0xf6]
const INK = [0x4b, 0x55, 0x63]

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(content))
  return Buffer.concat([length, content, checksum])
}

/** True for a pixel of the text, in font units. */
function isInk(text: string, x: number, y: number): boolean {
  const letter = text[Math.floor(x / ADVANCE)]
  if (letter === undefined || y < 0 || y >= ROWS || x < 0) return false
  const columns = FONT[letter]
  if (columns === undefined) throw new Error(`the font has no letter ${letter}`)
  const column = Buffer.from(columns, 'hex')[x % ADVANCE] ?? 0
  return ((column >> y) & 1) === 1
}

/** A PNG of {@link WIDTH} by {@link HEIGHT} pixels with the text in its center. */
export function drawText(text: string): Buffer {
  const left = (WIDTH - (text.length * ADVANCE - 1) * SCALE) / 2
  const top = (HEIGHT - ROWS * SCALE) / 2
  if (left < 0) throw new Error(`${text} does not fit in ${WIDTH} pixels`)
  // Each row begins with the number of its filter, and has one bit for each pixel.
  const rows = Array.from({ length: HEIGHT }, (_, y) => {
    const row = Buffer.alloc(1 + WIDTH / 8)
    for (let x = 0; x < WIDTH; x++) {
      if (isInk(text, Math.floor((x - left) / SCALE), Math.floor((y - top) / SCALE))) row[1 + (x >> 3)]! |= 0x80 >> (x & 7)
    }
    return row
  })
  const header = Buffer.alloc(13)
  header.writeUInt32BE(WIDTH, 0)
  header.writeUInt32BE(HEIGHT, 4)
  // One bit for each pixel, and a palette.
  header.set([1, 3, 0, 0, 0], 8)
  const palette = Buffer.from([...PAPER, ...INK])
  const data = deflateSync(Buffer.concat(rows), { level: 9 })
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('PLTE', palette), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))])
}
