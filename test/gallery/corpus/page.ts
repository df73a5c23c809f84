import { escapeHtml } from '../../sites/src/handler.ts'

/** The kind of a page. */
export type Kind =
  | 'template'
  | 'chart'
  | 'graphics'
  | 'map'
  | 'app'
  | 'table'
  | 'animation'
  | 'documentation'
  | 'consent'
  | 'webassembly'
  | 'component'
  | 'text'

/** Common fields of all pages of the corpus. */
interface Common {
  /** Name of its pictures and of its reference, in kebab case. */
  name: string
  kind: Kind
  /** True for endless motion or random content. A reference excludes the blocks that differ between two pictures. */
  moves?: true
  /** True if it hides content outside the viewport, so the reference of the full page is captured in a window as tall as the page. */
  hides?: true
}

/** An unchanged file of a package. */
export interface PackagePage extends Common {
  /** Path in the cache, such as `npm/admin-lte-3/index.html`. */
  file: string
  /** Directory of the cache that is the root of its site; absent: the cache itself. */
  root?: string
}

/** A small page that uses a package as its README shows. */
export interface WrittenPage extends Common {
  /** Paths of style sheets and classic scripts below `/npm/`. */
  load?: readonly string[]
  /** Names of bare imports, and their paths below `/npm/`. */
  imports?: Readonly<Record<string, string>>
  body: string
  /** Run as a module after the scripts. */
  run?: string
}

export type Page = PackagePage | WrittenPage

/** Path of a page on its site. */
export function pathOf(page: Page): string {
  if (!('file' in page)) return `/page/${page.name}`
  return page.root === undefined ? `/${page.file}` : page.file.slice(page.root.length)
}

/** Builds the document of such a page. */
export function buildDocument({ name, load = [], imports = {}, body, run = '' }: WrittenPage): string {
  const isStyle = (file: string): boolean => file.endsWith('.css')
  const links = load.filter(isStyle).map((file) => `<link rel="stylesheet" href="/npm/${file}">`)
  const scripts = load.filter((file) => !isStyle(file))
  const tags = scripts.map((file) => `<script src="/npm/${file}"></script>`)
  const bare = Object.fromEntries(Object.entries(imports).map(([specifier, file]) => [specifier, `/npm/${file}`]))
  const map = Object.keys(bare).length > 0 ? `<script type="importmap">${JSON.stringify({ imports: bare })}</script>` : ''
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(name)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style>${map}${links.join('')}</head>
<body>${body}${tags.join('')}<script type="module">${run}</script></body></html>`
}

const STYLE = `body{margin:0;font:17px/1.6 Arial,sans-serif;color:#1d2733} main{max-width:1200px;margin:0 auto;padding:32px}
.card{padding:24px;margin:24px 0;border-radius:10px;background:#e8eef4;min-height:220px} .row{display:flex;gap:24px;flex-wrap:wrap} .row>*{flex:1 1 280px}
.box{height:520px} .hero{height:100vh;display:grid;place-items:center;background:linear-gradient(135deg,#264653,#2a9d8f);color:#fff} .hero h1{font-size:72px;margin:0}`
