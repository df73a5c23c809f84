import { readFileSync } from 'node:fs'
import path from 'node:path'
import sharp from 'sharp'

// A site whose pages share scripts, styles, fonts and images. Their URLs contain the version, and they are declared immutable, as build
// tools do.

/** The response of one path. */
export interface Resource {
  type: string
  body: Buffer
  /** Only content that never changes is declared immutable. */
  isImmutable: boolean
}

/** Pages of the site. */
export const PAGES = 100

const SCRIPTS = 10
const STYLES = 5
const IMAGES = 11
const IMAGE = { width: 240, height: 160 }
/** Small fonts of the runner's image, each with one of its letters. */
const FONTS = [
  ['NotoSansLydian-Regular.ttf', '\u{10920}'],
  ['NotoSansUgaritic-Regular.ttf', '\u{10380}'],
  ['NotoSansOgham-Regular.ttf', '\u1681'],
  ['NotoSansTagalog-Regular.ttf', '\u1703'],
] as const
const FONT_DIRECTORY = '/usr/share/fonts/truetype/noto'
/** Approximate size in bytes of a script and of a style sheet. */
const SCRIPT_BYTES = 30_000
const STYLE_BYTES = 15_000

/** Number of subresources per page. */
export const SUBRESOURCES = SCRIPTS + STYLES + IMAGES + FONTS.length

/** All responses of the site, by path. */
export async function buildSite(): Promise<ReadonlyMap<string, Resource>> {
  const images = await Promise.all(times(IMAGES, drawImage))
  const immutable = (name: string, type: string, body: Buffer): [string, Resource] => [`/assets/${name}`, { type, body, isImmutable: true }]
  return new Map<string, Resource>([
    ...times(PAGES, (index): [string, Resource] => [
      pagePath(index),
      { type: 'text/html; charset=utf-8', body: Buffer.from(writePage(index)), isImmutable: false },
    ]),
    ...times(SCRIPTS, (index) => immutable(`${index}.v1.js`, 'text/javascript; charset=utf-8', Buffer.from(writeScript(index)))),
    ...times(STYLES, (index) => immutable(`${index}.v1.css`, 'text/css; charset=utf-8', Buffer.from(writeStyle(index)))),
    ...images.map((body, index) => immutable(`${index}.v1.png`, 'image/png', body)),
    ...FONTS.map(([file], index) => immutable(`${index}.v1.ttf`, 'font/ttf', readFileSync(path.join(FONT_DIRECTORY, file)))),
  ])
}

/** Path of a page. */
export const pagePath = (index: number): string => `/pages/${index}`

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index))

function writePage(index: number): string {
  const styles = times(STYLES, (style) => `<link rel="stylesheet" href="/assets/${style}.v1.css">`)
  const scripts = times(SCRIPTS, (script) => `<script defer src="/assets/${script}.v1.js"></script>`)
  const letters = FONTS.map(([, letter], font) => `<span style="font-family:site${font}">${letter}</span>`)
  const images = times(IMAGES, (image) => `<img src="/assets/${image}.v1.png" width="${IMAGE.width}" height="${IMAGE.height}" alt="">`)
  const text = times(
    12,
    (line) => `<p class="c${line}">Page ${index}, paragraph ${line}: ${'the quick brown fox jumps over the lazy dog. '.repeat(6)}</p>`,
  )
  return `<!doctype html><html lang="en"><head><title>Page ${index}</title>${styles.join('')}${scripts.join('')}</head>
<body><h1>Page ${index} ${letters.join(' ')}</h1><div id="made"></div>${images.join('')}${text.join('')}</body></html>`
}

/** Adds a line to the page. Most of the script is only parsed, as in typical bundles. */
function writeScript(index: number): string {
  const line = (number: number) => `export_${index}_${number}=(a,b)=>a*${number}+b%${index + 3};`
  return `${fill(SCRIPT_BYTES, (number) => `var ${line(number)}\n`)}
document.getElementById('made').append(' script ${index}: ' + export_${index}_7(6, 5))`
}

function writeStyle(index: number): string {
  const face = index < FONTS.length ? `@font-face{font-family:site${index};src:url(/assets/${index}.v1.ttf)}` : ''
  const rules = fill(STYLE_BYTES, (number) => `.s${index}-${number}{padding:${number % 9}px;color:rgb(${number % 255},${index},9)}\n`)
  return `${face}.c${index}{color:rgb(${index * 40},60,90);border-left:${index + 2}px solid}body{margin:16px;font:15px/1.4 sans-serif}${rules}`
}

function fill(bytes: number, write: (number: number) => string): string {
  let text = ''
  for (let number = 0; text.length < bytes; number++) text += write(number)
  return text
}

/** A gradient with noise, the same in each run. */
async function drawImage(index: number): Promise<Buffer> {
  const { width, height } = IMAGE
  const pixels = Buffer.alloc(width * height * 3)
  let state = index + 1
  for (let offset = 0; offset < pixels.length; offset++) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    pixels[offset] = ((offset / 9 + index * 20) & 0xe0) + ((state >> 16) & 0x0f)
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer()
}
