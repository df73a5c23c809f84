// Pages with known pixels, which README.md lists. The documented pixels do not depend on fonts.

import { colorOf, htmlOf, numberOf, page, type Routes, sendHtml } from './handler.ts'
import { buildPng } from './png.ts'

const BAND_PIXELS = 100

/** Color of band `n` of /tall as six hexadecimal digits. Tests also use it. */
export const bandColor = (n: number): string => ((n * 0x25_3d_61 + 0x40_80_c0) % 0x1_00_00_00).toString(16).padStart(6, '0')

const quadrant = (corner: string, color: string) => `<div style="position:fixed;${corner};width:50%;height:50%;background:${color}"></div>`
const square = (color: string, side = 100) => `<div style="width:${side}px;height:${side}px;background:#${color}"></div>`

const quadrants = htmlOf({
  title: 'Quadrants',
  style: 'html,body{height:100%;overflow:hidden}',
  body: [
    quadrant('left:0;top:0', '#ff0000'),
    quadrant('right:0;top:0', '#00ff00'),
    quadrant('left:0;bottom:0', '#0000ff'),
    quadrant('right:0;bottom:0', '#ffff00'),
  ].join(''),
})

function tall(query: URLSearchParams): string {
  const height = numberOf(query, 'height', 30_000, 100_000)
  const header = numberOf(query, 'header', 60, 500)
  const bands = Array.from({ length: Math.ceil(height / BAND_PIXELS) }, (_, n) => {
    const tallness = Math.min(BAND_PIXELS, height - n * BAND_PIXELS)
    return `<div style="height:${tallness}px;overflow:hidden;background:#${bandColor(n)}"><b style="margin-left:200px">${n}</b></div>`
  })
  const fixed = header > 0 ? `<div style="position:fixed;top:0;left:0;right:0;height:${header}px;background:#000"></div>` : ''
  return htmlOf({ title: `Tall ${height}`, style: 'b{font:40px/100px monospace;color:#fff}', body: fixed + bands.join('') })
}

/** Static pages. */
export const drawn: Routes = {
  solid: page((query) => htmlOf({ title: 'Solid', style: `html{background:#${colorOf(query, 'ff0000')}}` })),
  quadrants: page(() => quadrants),
  tall: page(tall),
  dark: page(() =>
    htmlOf({
      title: 'Dark or light',
      style: ':root{color-scheme:light dark}html{background:#fff}@media(prefers-color-scheme:dark){html{background:#101010}}',
    }),
  ),
  transparent: page(() => htmlOf({ title: 'Transparent', style: 'div{position:absolute;left:50px;top:50px}', body: square('ff0000') })),
  // Tests read the title from the record, because pixels do not show the viewport directly.
  viewport: page(() => htmlOf({ body: '<script>document.title = innerWidth + "x" + innerHeight + "@" + devicePixelRatio</script>' })),
  image: ({ query, response }) => {
    const picture = buildPng(
      numberOf(query, 'width', 100, 2_000) || 1,
      numberOf(query, 'height', 100, 2_000) || 1,
      colorOf(query, '00ff00'),
    )
    setTimeout(() => response.writeHead(200, { 'content-type': 'image/png' }).end(picture), numberOf(query, 'ms', 0, 600_000))
  },
  csp: ({ response }) => {
    const headers = { 'content-security-policy': "default-src 'none'; style-src 'self'" }
    const head = '<link rel="stylesheet" href="/csp.css">'
    sendHtml(
      response,
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Strict</title>${head}</head><body></body></html>`,
      { headers },
    )
  },
  'csp.css': ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/css' }).end('html { background: #336699 }')
  },
}
