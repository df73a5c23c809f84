import { inflateSync } from 'node:zlib'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs'
import t from 'tap'
import { servePages } from '../../capture-runner/stage/page-server.ts'
import { decode, isNear, RED } from '../../capture-runner/stage/pixels.ts'
import { openStudio } from '../../capture-runner/stage/studio.ts'

// What is masked is in no file of a capture. The marker is in a text, an attribute, a canvas, a background, and where browsers repeat such texts.

const MARKER = 'anna.secret@example.com'
const STYLE = 'position:absolute;left:100px;width:300px;height:100px;margin:0'
const encoded = [...MARKER].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')

const PARTS: Record<string, string> = {
  'a text': `<p class="private">${MARKER}</p>`,
  'a heading, which the outline of a PDF repeats': `<h1 class="private">${MARKER}</h1><h2>Public</h2>`,
  'a text that is larger than its box': `<p class="private" style="width:10px;height:10px;white-space:nowrap;overflow:visible">${MARKER}</p>`,
  'an attribute and a label': `<p class="private" title="${MARKER}" data-mail="${MARKER}" aria-label="${MARKER}">text</p>`,
  'a link': `<p class="private"><a href="https://example.com/?${MARKER}">write</a></p>`,
  'an alternative text': `<img class="private" alt="${MARKER}" src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" style="width:50px;height:50px">`,
  'a canvas': `<canvas class="private">${MARKER}</canvas><script>document.querySelector('canvas').getContext('2d').fillText('${MARKER}', 9, 9)</script>`,
  'a background': `<p class="private" style="${STYLE};top:400px;background:url('data:image/svg+xml,<svg>${MARKER}</svg>')"></p>`,
  'a rule of a style sheet': `<style>.private::before { content: '${MARKER}' } .other { color: red }</style><p class="private"></p>`,
  'a rule of a constructed style sheet': `<p class="private"></p><script>{ const sheet = new CSSStyleSheet(); sheet.replaceSync(".private::before { content: '${MARKER}' }"); document.adoptedStyleSheets = [sheet] }</script>`,
  'what is typed into a field': `<div class="private"><input id="f"></div><script>f.value = '${MARKER}'; f.removeAttribute('id')</script>`,
  'a field': `<input class="private" value="${MARKER}"><textarea class="private">${MARKER}</textarea>`,
  'a component': `<x-card></x-card><script>document.querySelector('x-card').attachShadow({ mode: 'open' }).innerHTML = '<p class="private">${MARKER}</p>'</script>`,
  'a closed component': `<x-card></x-card><script>document.querySelector('x-card').attachShadow({ mode: 'closed' }).innerHTML = '<p class="private">${MARKER}</p>'</script>`,
  'a frame': `<iframe srcdoc="<p class=private>${MARKER}</p>"></iframe>`,
  'a masked frame': `<iframe class="private" srcdoc="<p>${MARKER}</p>"></iframe>`,
  'the title': `<svg style="display:none"><desc class="private">${MARKER}</desc></svg><script>document.title = '${MARKER}'; document.querySelector('title').className = 'private'</script>`,
  'a comment and a template': `<p class="private"><!-- ${MARKER} --></p><template><p class="private">${MARKER}</p></template>`,
}

const paths = Object.keys(PARTS).map((name, index) => ({ name, path: `/${index}` }))
const documentOf = (part: string): string =>
  `<!doctype html><html lang="en"><title>Account</title><body><p class="control" style="${STYLE};top:10px">x</p>${part}</body>`
const pages = Object.fromEntries(Object.values(PARTS).map((part, index) => [`/${index}`, documentOf(part)]))
const [studio, site] = await Promise.all([openStudio(), servePages(pages)])
t.teardown(async () => {
  await studio.close()
  await site.close()
})

const OPTIONS: CaptureOptions = {
  maskSelectors: ['.private', '.control'],
  maskColor: '#ff0000',
  saveHtml: true,
  saveText: true,
  saveAccessibilityTree: true,
  metadataLinks: true,
  metadataPageTitle: true,
  metadataOpenGraph: true,
}

const isIn = (text: string): boolean => [MARKER, encoded].some((form) => text.toLowerCase().includes(form)) || /anna\.secret/i.test(text)

for (const { name, path } of paths) {
  t.test(`no file of a capture has what is masked: ${name}`, async (t) => {
    const { findings, picture } = await studio.shoot(site.url(path), OPTIONS)
    const pixels = await decode(picture)
    t.ok(isNear(pixels.at(250, 50), RED), 'the control is covered')
    t.ok(findings.files.size >= 3)
    for (const [type, bytes] of findings.files) t.notOk(isIn(String(bytes)), `${type}: ${String(bytes).slice(0, 300)}`)
    t.notOk(isIn(JSON.stringify([findings.page, findings.pageTitle, findings.finalUrl])), 'metadata')
  })
}

/** The texts of a PDF, as its objects have them and as a viewer reads them. */
async function textsOf(pdf: Buffer): Promise<string> {
  const raw = pdf.toString('latin1')
  const streams = [...raw.matchAll(/stream\r?\n([\s\S]*?)endstream/g)].map(([, data = '']) => {
    try {
      return inflateSync(Buffer.from(data, 'latin1')).toString('latin1')
    } catch {
      return data
    }
  })
  // Strings of two bytes a letter lose their zeros.
  const objects = [raw, ...streams].join('\n').replaceAll('\0', '')
  const hex = [...raw.matchAll(/<([0-9A-Fa-f]{8,})>/g)].map(([, digits = '']) =>
    Buffer.from(digits, 'hex').toString('latin1').replaceAll('\0', ''),
  )
  const file = await getDocument({ data: new Uint8Array(pdf), useSystemFonts: true, verbosity: 0 }).promise
  const read: unknown[] = [await file.getOutline(), await file.getMetadata()]
  for (let number = 1; number <= file.numPages; number++) {
    const page = await file.getPage(number)
    const { items } = await page.getTextContent()
    read.push(items.map((item) => ('str' in item ? item.str : '')).join(''), await page.getAnnotations(), await page.getStructTree())
  }
  return [objects, ...hex, JSON.stringify(read)].join('\n')
}

t.test('a PDF has what is masked neither as text, link, description nor outline', async (t) => {
  const options: CaptureOptions = { maskSelectors: ['.private', '.control'], format: 'pdf', pdfTagged: true, pdfOutline: true }
  const control = await studio.shoot(site.url('/1'), { ...options, maskSelectors: ['.control'] })
  t.ok(isIn(await textsOf(control.picture)), 'the search finds it without a mask')
  for (const { name, path } of paths) {
    const { picture } = await studio.shoot(site.url(path), options)
    t.notOk(isIn(await textsOf(picture)), name)
  }
})
