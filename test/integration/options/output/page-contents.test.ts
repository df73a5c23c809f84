import type { ArtifactType } from '@tintype/crds/options/artifacts'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import sharp from 'sharp'
import t from 'tap'
import { isNear } from '../../capture-runner/stage/pixels.ts'
import { openStage, type Shot, SMALL_WINDOW } from '../options.ts'

// Files for readers that are programs: Markdown, links, and small copies of the picture.

const sentence = (words: string): string =>
  `${words}, and this sentence is long enough to count as a part of an article, with commas, for readers.`
const paragraphs = (count: number): string => Array.from({ length: count }, (_, n) => `<p>${sentence(`Paragraph ${n + 1}`)}</p>`).join('\n')
const NAV = '<nav><ul><li><a href="/home">Home</a></li><li><a href="/news">News</a></li></ul></nav>'

const ARTICLE = `<!doctype html><html lang="en"><title>On pictures</title><body>${NAV}<main><article><h1>On pictures</h1>
  ${paragraphs(3)}<h2>Formats</h2>
  <table><tr><th>Name</th><th>Use</th></tr><tr><td>png</td><td>text | lines</td></tr></table>
  <pre class="language-js"><code>const a = 1\n  &lt;b&gt;</code></pre>
  <p>Read <a href="/more">more <b>here</b></a> <img src="/dot.svg" width="9" height="9" alt="A dot"><img src="/dot.svg" alt=""></p>
  <p class="private">Secret word</p><p style="display:none">Hidden word</p><p style="opacity:0">Faint word</p>
  ${paragraphs(3)}</article></main><footer>Imprint</footer></body></html>`

const LIST = `<!doctype html><title>Shop</title><body>${NAV}<h1>Things</h1>
  ${['One', 'Two', 'Three'].map((name) => `<div class="card"><h3><a href="/${name}">${name}</a></h3><span>9 €</span></div>`).join('')}
  <div id="host"></div><iframe srcdoc="<p>Framed</p>"></iframe><form><input name="childNodes" value="Typed"><input type="password" value="Secret"><button>Buy</button></form>
  <script>host.attachShadow({ mode: 'closed' }).innerHTML = '<p>Shadowed</p>'</script></body>`

/** Pages that make it hard to read them. The marker must be read, unless the page is too large. */
const HOSTILE = {
  '/getters': `for (const name of ['childNodes', 'firstChild', 'textContent', 'attributes', 'localName', 'parentNode', 'innerHTML'])
    for (const type of [Node, Element]) if (Object.hasOwn(type.prototype, name)) Object.defineProperty(type.prototype, name, { get: () => { throw new Error('trap') } })
    Object.prototype.href = 'https://evil.example/'; Array.prototype.map = () => []; String.prototype.replace = () => 'evil'`,
  '/deep': `let inner = document.body; for (let n = 0; n < 2000; n++) inner = inner.appendChild(document.createElement(n % 2 ? 'div' : 'blockquote')); inner.textContent = 'Marker'`,
  '/nodes': `const all = document.createDocumentFragment(); for (let n = 0; n < 105000; n++) all.append(new Comment('')); document.body.append(all)`,
  '/words': `for (let n = 0; n < 3; n++) { const p = document.createElement('p'); p.textContent = 'word '.repeat(1e5); document.body.append(p) }`,
  '/rows': `document.body.insertAdjacentHTML('beforeend', '<div><p>a, b, c</p></div>'.repeat(5000) + '<ol><li>x' + '<li>y'.repeat(300) + '</ol>')`,
} as const

const stage = await openStage(
  t,
  {
    '/article': ARTICLE,
    '/list': LIST,
    ...Object.fromEntries(
      Object.entries(HOSTILE).map(([path, script]) => [
        path,
        `<!doctype html><title>Hostile</title><p>Marker</p><script>${script}</script>`,
      ]),
    ),
    '/links': `<!doctype html><title>Links</title><base href="/base/"><a href="a#b">First</a><a href="a#b">Again</a><a href="a" rel="nofollow noopener"><img alt="Picture"></a>
      <a href="https://www.example.com/">Out</a><a href="mailto:ada@example.com">Mail</a><a href="javascript:alert(1)">Run</a><a href="data:text/html,x">Data</a>
      <a href="/hidden" style="display:none">Hidden</a><svg width="20" height="20"><a xlink:href="drawn"><text y="15">Drawn</text></a></svg><a href="${'x'.repeat(3_000)}">Long</a>`,
    '/many': `<!doctype html><title>Many</title><script>for (let n = 0; n < 2500; n++) document.write('<a href="/' + n + '">' + n + '</a> ')</script>`,
    '/tall': `<!doctype html><title>Tall</title><meta name=viewport content="width=device-width"><body style="margin:0"><script>for (let n = 0; n < 300; n++) document.write('<div style="height:100px;background:rgb(' + n % 250 + ',' + (n * 7) % 250 + ',90)"></div>')</script>`,
    '/noise': `<!doctype html><title>Noise</title><body style="margin:0"><canvas width="1280" height="1500" style="display:block"></canvas><script>
      const context = document.querySelector('canvas').getContext('2d'); const image = context.createImageData(1280, 1500)
      const bits = new Uint32Array(image.data.buffer)
      let seed = 1; for (let n = 0; n < bits.length; n++) { seed ^= seed << 13; seed ^= seed >>> 17; seed ^= seed << 5; bits[n] = seed | 0xff000000 }
      context.putImageData(image, 0, 0)</script>`,
  },
  { usual: SMALL_WINDOW },
)
const { shoot, site } = stage
const textOf = ({ findings }: Pick<Shot, 'findings'>, type: ArtifactType): string => findings.files.get(type)?.toString() ?? ''

t.test('option save_markdown: saves the article, with headings, tables and code', async (t) => {
  const markdown = textOf(await shoot('/article', { saveMarkdown: true, maskSelectors: ['.private'] }), 'markdown')
  t.match(markdown, /^# On pictures\n\nParagraph 1, /)
  for (const part of [
    '\n## Formats\n',
    '| Name | Use |\n| --- | --- |\n| png | text \\| lines |\n',
    '```js\nconst a = 1\n  <b>\n```',
    `Read [more **here**](${site.url('/more')}) ![A dot](${site.url('/dot.svg')})`,
    'Paragraph 3, ',
  ])
    t.match(markdown, part)
  t.notMatch(markdown, /Home|Imprint|Secret|Hidden|Faint/)
})

// proves: save_markdown
t.test('the Markdown of a page without an article has all that the page shows', async (t) => {
  const markdown = textOf(await shoot('/list', { saveMarkdown: true }), 'markdown')
  for (const part of [
    `- [Home](${site.url('/home')})`,
    '# Things',
    `### [Two](${site.url('/Two')})`,
    '9 €',
    'Shadowed',
    'Framed',
    'Typed',
    'Buy',
  ])
    t.match(markdown, part)
  t.notMatch(markdown, 'Secret')
})

// proves: save_markdown, save_links
t.test('pages that are made to mislead or overload a reader get their picture, and a file or a warning', async (t) => {
  for (const path of Object.keys(HOSTILE)) {
    const { findings } = await stage.take(path, { saveMarkdown: true, saveLinks: true })
    const [markdown, links] = [textOf({ findings }, 'markdown'), textOf({ findings }, 'links')]
    t.ok(findings.picture, path)
    t.ok(
      /^Marker/m.test(markdown) || findings.warnings.some((warning) => /^markdown was left out/.test(warning)),
      `${path}: ${markdown.slice(0, 200)} ${findings.warnings}`,
    )
    t.ok(markdown.length <= 1_048_576, `${path}: ${markdown.length}`)
    t.notMatch(markdown + links, 'evil')
  }
})

t.test('option save_links: saves each URL once, with its text, and whether it stays within the site', async (t) => {
  const { links, dropped } = JSON.parse(textOf(await shoot('/links', { saveLinks: true }), 'links'))
  const own = { rel: [], same_site: true, visible: true }
  t.strictSame(links, [
    { url: site.url('/base/a#b'), text: 'First', ...own },
    { url: site.url('/base/a'), text: 'Picture', ...own, rel: ['nofollow', 'noopener'] },
    { url: 'https://www.example.com/', text: 'Out', ...own, same_site: false },
    { url: 'mailto:ada@example.com', text: 'Mail', ...own, same_site: false },
    { url: site.url('/hidden'), text: 'Hidden', ...own, visible: false },
    { url: site.url('/base/drawn'), text: 'Drawn', ...own },
  ])
  t.equal(dropped, 1, 'the long one')
  const many = await shoot('/many', { saveLinks: true })
  t.equal(JSON.parse(textOf(many, 'links')).links.length, 2_000)
  t.match(many.findings.warnings, ['links was cut: it lacks 500 links of the page'])
})

/** The slices of a preview, each decoded. */
async function slicesOf({ findings }: Pick<Shot, 'findings'>) {
  const file = findings.files.get('preview') ?? Buffer.alloc(0)
  const slices = findings.preview?.slices ?? []
  const pictures = slices.map(async ({ offset, length, ...place }) => {
    const slice = sharp(file.subarray(offset, offset + length))
    const { format } = await slice.metadata()
    const { data, info } = await slice.raw().toBuffer({ resolveWithObject: true })
    const at = (x: number, y: number): number[] => [...data.subarray((y * info.width + x) * info.channels).subarray(0, 3)]
    return { ...place, format, size: [info.width, info.height], at, bytes: length, end: offset + length }
  })
  return { places: findings.preview, file, slices: await Promise.all(pictures) }
}

t.test('option preview: slices of a tall page join to what the picture shows, and say what lies beyond', async (t) => {
  const shot = await shoot('/tall', { fullPage: true, fullPageMaxHeight: 30_000, viewportWidth: 1_280, preview: 'slices' })
  const { places, file, slices } = await slicesOf(shot)
  t.match(places, { scale: 0.7, width: 1_280, height: 30_000, shownWidth: 1_280, shownHeight: 26_000, sliceCount: 14 })
  t.equal(slices.length, 12)
  t.equal(slices.at(-1)?.end, file.length)
  const wrong: string[] = []
  let shown = 80
  for (const { y, width, height, size, at, bytes } of slices) {
    t.strictSame(size, [width, height])
    t.ok(Math.max(width, height) <= 1_568 && bytes <= 262_144)
    t.ok(Math.abs(shown - y - 80) <= 1, `the slice at ${y} overlaps the one before by 80 CSS pixels`)
    for (let row = Math.ceil(y / 100); row < Math.floor((y + height / 0.7) / 100); row++) {
      const color = at(600, Math.round((row * 100 + 50 - y) * 0.7))
      if (!isNear(color, [row % 250, (row * 7) % 250, 90], 12)) wrong.push(`row ${row} is ${color}`)
    }
    shown = y + height / 0.7
  }
  t.strictSame(wrong, [])
})

const PREVIEWS: readonly [what: string, options: CaptureOptions, places: object][] = [
  ['a window at CSS size', { preview: 'fit' }, { scale: 1, height: 700, slices: [{ width: 1_000, height: 700, y: 0, offset: 0 }] }],
  [
    'a phone with three pixels for each CSS pixel',
    { preview: 'fit', device: 'iPhone 15 Pro' },
    { scale: 1, width: 393, slices: [{ width: 393 }] },
  ],
  [
    'a page that is a little too tall',
    { preview: 'fit', fullPage: true, fullPageMaxHeight: 2_000 },
    { scale: 0.784, slices: [{ height: 1_568 }] },
  ],
  [
    'the first slice',
    { preview: 'fit', fullPage: true, fullPageMaxHeight: 5_000 },
    { scale: 0.7, shownHeight: 2_240, sliceCount: 3, slices: [{}] },
  ],
]

for (const [what, options, places] of PREVIEWS) {
  // proves: preview
  t.test(`a preview shows ${what}`, async (t) => {
    const { findings } = await stage.take('/tall', options)
    t.match(findings.preview, places)
    t.equal(findings.preview?.slices.length, 1)
  })
}

// proves: preview
t.test('a preview shows the picture before it is resized, in every format', async (t) => {
  for (const format of ['jpeg', 'webp', 'avif'] as const) {
    const { places, slices } = await slicesOf(await stage.take('/tall', { preview: 'fit', format, imageWidth: 100 }))
    t.match(places, { width: 1_000, height: 700 })
    t.ok(isNear(slices[0]?.at(500, 250) ?? [], [2, 14, 90], 12), format)
  }
})

// proves: preview_max_bytes, preview_max_slices, preview_max_side, preview_format
t.test('option preview_max_bytes: a page of noise has slices of lower quality or fewer rows', async (t) => {
  const limits = { previewMaxBytes: 65_536, previewMaxSlices: 3, previewMaxSide: 1_000, previewFormat: 'jpeg' } as const
  const shot = await stage.take('/noise', { fullPage: true, viewportWidth: 1_280, preview: 'slices', ...limits })
  const { places, slices } = await slicesOf(shot)
  t.equal(slices.length, 3)
  t.strictSame(
    slices.filter(
      ({ width, height, bytes, format }) => bytes > 65_536 || Math.max(width, height) > 1_000 || height < 20 || format !== 'jpeg',
    ),
    [],
  )
  t.ok((places?.sliceCount ?? 0) > 3)
  const { y = 0, height = 0 } = slices.at(-1) ?? {}
  t.ok(Math.abs(y + height / (places?.scale ?? 0) - (places?.shownHeight ?? 0)) < 3)
})
