import type { RequestListener } from 'node:http'
import sharp from 'sharp'

// A typical tall page: headings, paragraphs, a table and a photo per window of height, without animations or lazy loading.

const SECTION_PIXELS = 1_000
const PHOTOS = 5
const WORDS =
  `river harbour window measure copper lantern orchard signal quarter bridge meadow timber canvas engine letter granite voyage mirror pepper
  anchor market valley thunder paper garden silver motion winter feather compass`.split(/\s+/)

/** A pseudo-random sequence from 0 to 1, the same in each run. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Gradients with blurred and fine noise, which are about as hard to encode as a photo. */
async function buildPhoto(seed: number, width = 1_200, height = 480): Promise<Buffer> {
  const random = createRandom(seed + 1)
  const noise = (w: number, h: number) => Buffer.from(Array.from({ length: w * h * 3 }, () => Math.floor(random() * 256)))
  const coarse = sharp(noise(24, 10), { raw: { width: 24, height: 10, channels: 3 } })
  const clouds = await coarse.resize(width, height, { kernel: 'cubic' }).png().toBuffer()
  const grain = await sharp(noise(300, 120), { raw: { width: 300, height: 120, channels: 3 } })
    .resize(width, height, { kernel: 'cubic' })
    .ensureAlpha(0.25)
    .png()
    .toBuffer()
  return sharp(clouds)
    .composite([{ input: grain }])
    .jpeg({ quality: 85 })
    .toBuffer()
}

/** The page with the given height in pixels, in a window of 1920 pixels. */
function buildArticle(height: number): string {
  const random = createRandom(height)
  const word = () => WORDS[Math.floor(random() * WORDS.length)] ?? ''
  const words = (count: number) => Array.from({ length: count }, word).join(' ')
  const paragraph = () => `<p>${Array.from({ length: 5 }, () => `${words(14)}, <a href="#">${words(3)}</a> ${words(9)}.`).join(' ')}</p>`
  const row = () => `<tr>${Array.from({ length: 6 }, () => `<td>${word()} ${Math.floor(random() * 1e5)}</td>`).join('')}</tr>`
  const sections = Array.from({ length: Math.ceil(height / SECTION_PIXELS) }, (_, n) => {
    const tallness = Math.min(SECTION_PIXELS, height - n * SECTION_PIXELS)
    const text = `<h2>${n}. ${words(5)}</h2>${paragraph()}${paragraph()}<table>${Array.from({ length: 5 }, row).join('')}</table>`
    return `<section style="height:${tallness}px"><main>${text}<img src="/photo${n % PHOTOS}.jpg" width="1200" height="480" alt=""></main><aside>${paragraph()}</aside></section>`
  })
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Article</title><style>
    body{margin:0;font:17px/1.5 sans-serif;color:#222;background:#fff} section{overflow:hidden;padding:0 60px;box-sizing:border-box;display:flex;gap:40px}
    section:nth-child(even){background:#f6f8fa} main{width:1200px} aside{flex:1;font-size:14px;border-left:1px solid #ccc;padding:20px;margin:20px 0}
    h2{font-size:30px;margin:16px 0} p{margin:8px 0} img{display:block;margin:16px 0;border-radius:8px} a{color:#06c}
    table{border-collapse:collapse;width:100%} td{border:1px solid #ddd;padding:2px 8px}</style>${sections.join('')}</html>`
}

/** Serves `/article?height=25000` and its photos. */
export async function serveArticles(): Promise<RequestListener> {
  const photos = await Promise.all(Array.from({ length: PHOTOS }, (_, seed) => buildPhoto(seed)))
  return (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const photo = photos[Number(/^\/photo(\d+)\.jpg$/.exec(url.pathname)?.[1] ?? -1)]
    if (photo) return void response.writeHead(200, { 'content-type': 'image/jpeg', 'cache-control': 'max-age=60' }).end(photo)
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .end(buildArticle(Number(url.searchParams.get('height') ?? 25_000)))
  }
}
