import { inflateSync } from 'node:zlib'
import type { ArtifactType } from '@tintype/crds/options/artifacts'
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs'
import t from 'tap'
import { servingGreen } from '../../capture-runner/stage/page-server.ts'
import { isNear, RED } from '../../capture-runner/stage/pixels.ts'
import { openStage, type Shot, strict } from '../options.ts'

// Additional files beside the screenshot.

// What is masked is in no file of a capture. The marker is in a text, an attribute, a canvas, a background, and where browsers repeat such texts.

const STYLE = 'position:absolute;left:100px;width:300px;height:100px;margin:0'
/** Parts of a page by the marker that they hide. */
const PARTS: Record<string, (marker: string) => string> = {
  'a text': (m) => `<p class="private">${m}</p>`,
  'a heading, which the outline of a PDF repeats': (m) => `<h1 class="private">${m}</h1><h2>Public</h2>`,
  'a text that is larger than its box': (m) =>
    `<p class="private" style="width:10px;height:10px;white-space:nowrap;overflow:visible">${m}</p>`,
  'an attribute and a label': (m) => `<p class="private" title="${m}" data-mail="${m}" aria-label="${m}">text</p>`,
  'a link': (m) => `<p class="private"><a href="https://example.com/?${m}">write</a></p>`,
  'an alternative text': (m) =>
    `<img class="private" alt="${m}" src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" style="width:50px;height:50px">`,
  'a canvas': (m) =>
    `<canvas class="private">${m}</canvas><script>document.querySelector('canvas').getContext('2d').fillText('${m}', 9, 9)</script>`,
  'a background': (m) => `<p class="private" style="${STYLE};top:400px;background:url('data:image/svg+xml,<svg>${m}</svg>')"></p>`,
  'a rule of a style sheet': (m) => `<style>.private::before { content: '${m}' } .other { color: red }</style><p class="private"></p>`,
  'a rule of a constructed style sheet': (m) =>
    `<p class="private"></p><script>{ const sheet = new CSSStyleSheet(); sheet.replaceSync(".private::before { content: '${m}' }"); document.adoptedStyleSheets = [sheet] }</script>`,
  'what is typed into a field': (m) =>
    `<div class="private"><input id="f"></div><script>f.value = '${m}'; f.removeAttribute('id')</script>`,
  'a field': (m) => `<input class="private" value="${m}"><textarea class="private">${m}</textarea>`,
  'a component': (m) =>
    `<x-card></x-card><script>document.currentScript.previousElementSibling.attachShadow({ mode: 'open' }).innerHTML = '<p class="private">${m}</p>'</script>`,
  'a closed component': (m) =>
    `<x-card></x-card><script>document.currentScript.previousElementSibling.attachShadow({ mode: 'closed' }).innerHTML = '<p class="private">${m}</p>'</script>`,
  'a frame': (m) => `<iframe srcdoc="<p class=private>${m}</p>"></iframe>`,
  'a masked frame': (m) => `<iframe class="private" srcdoc="<p>${m}</p>"></iframe>`,
  'the title': (m) =>
    `<svg style="display:none"><desc class="private">${m}</desc></svg><script>document.title = '${m}'; document.querySelector('title').className = 'private'</script>`,
  'a comment and a template': (m) => `<p class="private"><!-- ${m} --></p><template><p class="private">${m}</p></template>`,
}
const markers = Object.keys(PARTS).map((name, index) => ({ name, marker: `anna.secret${index}@example.com` }))
const encoded = (text: string): string => [...text].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')
/** The parts whose markers are in a text, in any spelling. */
const leaksIn = (text: string): string[] => {
  const found = markers.filter(({ marker }) => [marker, encoded(marker)].some((form) => text.toLowerCase().includes(form)))
  return found.length === 0 && /anna\.secret/i.test(text) ? ['an unknown part'] : found.map(({ name }) => name)
}
const SECRETS = `<!doctype html><html lang="en"><title>Account</title><body><p class="control" style="${STYLE};top:10px">x</p>
  ${markers.map(({ name, marker }) => PARTS[name]?.(marker)).join('\n')}</body>`

const stage = await openStage(t, {
  '/secrets': SECRETS,
  '/page': (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'secret=cookie-value' })
    response.end(`<!doctype html><html lang="en"><title>A page</title><body><h1>Heading</h1><p id="p">Before</p><p hidden>Hidden</p>
      <img src="/dot.svg" width="10" height="10" alt="A dot"><button>Press</button>
      <script>p.textContent = 'After'; console.warn('careful', { a: 1 }); setTimeout(() => { throw new TypeError('broken') }, 0)</script>`)
  },
  '/dot.svg': servingGreen(10),
  '/closed': `<!doctype html><title>Closed</title><x-card></x-card><script>document.querySelector('x-card').attachShadow({ mode: 'closed' }).innerHTML = '<p>Closed</p>'</script>`,
  '/plain': `<!doctype html><title>Plain</title><p id="p">tod<b>ay</b></p><script>p.attachShadow({ mode: 'closed' }).innerHTML = 'Sold out <slot></slot>'</script>`,
  '/bare': `<!doctype html><title>Bare</title><div id="p"></div><script>p.attachShadow({ mode: 'closed' }).textContent = 'Sold out'</script>`,
  '/deep': `<!doctype html><title>Deep</title>${'<div>'.repeat(450)}<p id="p"></p><script>p.attachShadow({ mode: 'closed' }).innerHTML = 'Deep<s>secret</s>'</script>`,
  '/pale': '<!doctype html><title>Pale</title><p style="color:white">Sold out</p>',
  '/login': `<!doctype html><title>Login</title><input value="Ada Lovelace"><input type="password" value="attribute-secret"><textarea name="passphrase">area-secret</textarea><input id="typed" name="password">
    <iframe srcdoc='<input type="password" value="frame-secret">'></iframe><div id="host"></div>
    <script>typed.value = 'typed-' + 'sec' + 'ret'; host.attachShadow({ mode: 'closed' }).innerHTML = '<input type="password" value="shadow-' + 'sec' + 'ret">'; document.currentScript.remove()</script>`,
  '/webgl': `<!doctype html><title>Drawn</title><canvas></canvas><script>const gl = document.querySelector('canvas').getContext('webgl'); gl.clearColor(1, 0, 0, 1); gl.clear(gl.COLOR_BUFFER_BIT)</script>`,
  '/strict': strict('<!doctype html><title>Strict</title><h1>Strictly</h1>'),
})
const { shoot, site } = stage
const textOf = ({ findings }: Shot, type: ArtifactType): string => findings.files.get(type)?.toString() ?? ''

t.test('a capture without the options creates no files', async (t) => {
  t.equal((await shoot('/page')).findings.files.size, 0)
})

t.test('option save_html: saves the document after its scripts have run', async (t) => {
  const html = textOf(await shoot('/page', { saveHtml: true }), 'html')
  t.match(html, /^<!DOCTYPE html>\n?<html lang="en">/i)
  t.match(html, /<p id="p">After<\/p>/)
  t.match(html, `<base href="${site.url('/page')}">`)
  t.match(textOf(await shoot('/strict', { saveHtml: true, javascriptEnabled: false }), 'html'), '<h1>Strictly</h1>')
})

// proves: save_html
t.test('the saved HTML lacked what is in closed shadow roots, without a word', async (t) => {
  const shot = await shoot('/closed', { saveHtml: true })
  t.match(textOf(shot, 'html'), '<x-card><template shadowrootmode="closed"><p>Closed</p></template></x-card>')
  t.strictSame(shot.findings.warnings, [])
  const { findings } = await shoot('/webgl', { saveHtml: true })
  t.strictSame(findings.warnings, ['the saved HTML lacks what scripts put into elements of the page: 1 canvas'])
})

// proves: save_html
t.test('the words of a closed shadow root on a plain element were missing, without a word', async (t) => {
  const shot = await shoot('/plain', { saveHtml: true, saveText: true })
  t.match(textOf(shot, 'html'), '<p id="p"><template shadowrootmode="closed">Sold out <slot></slot></template>tod')
  t.equal(textOf(shot, 'text').trim(), 'Sold out today')
})

t.test('the words of a closed shadow root without elements were missing, without a word', async (t) => {
  t.equal(textOf(await shoot('/bare', { saveText: true }), 'text').trim(), 'Sold out')
})

t.test('a closed shadow root in a page of 450 levels ended the capture', async (t) => {
  const shot = await shoot('/deep', { saveText: true, maskSelectors: ['s'] })
  t.strictSame([textOf(shot, 'text').trim(), shot.findings.warnings], ['Deep', []])
})

// proves: save_html
t.test('the saved HTML of markup names no URL that nobody has', async (t) => {
  const { findings } = await stage.shootAt('about:html', { html: '<h1 id="a">A</h1><a href="#a">up</a>', saveHtml: true })
  const html = String(findings.files.get('html'))
  t.match(html, '<a href="#a">up</a>')
  t.notMatch(html, /<base|\.invalid/)
})

t.test('option save_text: saves the visible text', async (t) => {
  const text = textOf(await shoot('/page', { saveText: true }), 'text')
  t.match(text, /Heading\s+After/)
  t.notMatch(text, 'Hidden')
})

// proves: save_text
t.test('white words on a white page are no text, and are one on a page whose background the client sets or removes', async (t) => {
  t.equal(textOf(await shoot('/pale', { saveText: true }), 'text').trim(), '')
  for (const options of [{ backgroundColor: 'navy' }, { omitBackground: true }] as const) {
    t.equal(textOf(await shoot('/pale', { saveText: true, ...options }), 'text').trim(), 'Sold out')
    await t.rejects(shoot('/pale', { failIfContentContains: ['sold out'], ...options }), { code: 'CONTENT_RULE' })
  }
})

t.test('option save_mhtml: saves the page and its images in one file', async (t) => {
  const mhtml = textOf(await shoot('/page', { saveMhtml: true }), 'mhtml')
  t.match(mhtml, /^From: /)
  t.match(mhtml, `Content-Location: ${site.url('/dot.svg')}`)
})

t.test('option save_har: saves every request without secrets', async (t) => {
  const privateOptions = { authorization: 'Bearer top-secret', headers: { 'X-Own': 'own-secret' } }
  const har = textOf(await shoot('/page', { saveHar: true }, { privateOptions }), 'har')
  const { log } = JSON.parse(har)
  t.strictSame(
    log.entries.map(({ request, response }: { request: { url: string }; response: { status: number } }) => [request.url, response.status]),
    [
      [site.url('/page'), 200],
      [site.url('/dot.svg'), 200],
    ],
  )
  t.match(log, { version: '1.2', creator: { name: 'Tintype' } })
  t.notMatch(har, /top-secret|own-secret|cookie-value/)
})

t.test('option save_console: saves messages and uncaught errors', async (t) => {
  const entries = JSON.parse(textOf(await shoot('/page', { saveConsole: true, delay: 100 }), 'console'))
  t.match(entries, [
    { level: 'warning', text: /^careful/ },
    { level: 'exception', text: /TypeError: broken/, url: site.url('/page') },
  ])
})

// proves: save_mhtml, save_accessibility_tree
t.test('the MHTML and the accessibility tree had the passwords of the page', async (t) => {
  const shot = await shoot('/login', { saveMhtml: true, saveAccessibilityTree: true, saveHtml: true, saveText: true, saveConsole: true })
  for (const type of ['mhtml', 'accessibility_tree', 'html', 'text', 'console'] as const) {
    const text = textOf(shot, type).replace(/=\r?\n/g, '')
    t.notMatch(text, /-secret/, type)
    if (type !== 'console') t.match(text, 'Ada Lovelace', `${type} has other values`)
  }
  t.match(textOf(shot, 'html'), /type="password" value="•{16}"/, 'the page has its passwords again')
  t.strictSame(shot.findings.warnings, [])
})

t.test('option save_accessibility_tree: saves the accessibility tree', async (t) => {
  const nodes = JSON.parse(textOf(await shoot('/page', { saveAccessibilityTree: true }), 'accessibility_tree'))
  const named = nodes.map(({ role, name }: { role?: { value: string }; name?: { value: string } }) => `${role?.value} ${name?.value ?? ''}`)
  for (const one of ['heading Heading', 'button Press', 'image A dot']) t.ok(named.includes(one), one)
})

t.test('no file of a capture has what is masked', async (t) => {
  const { findings, pixels } = await shoot('/secrets', {
    ...{ maskSelectors: ['.private', '.control'], maskColor: '#ff0000', saveHtml: true, saveText: true, saveAccessibilityTree: true },
    ...{ metadataLinks: true, metadataPageTitle: true, metadataOpenGraph: true },
  })
  t.ok(isNear(pixels.at(250, 50), RED), 'the control is covered')
  t.ok(findings.files.size >= 3)
  for (const [type, bytes] of findings.files) t.strictSame(leaksIn(String(bytes)), [], `${type}: ${String(bytes).slice(0, 300)}`)
  t.strictSame(leaksIn(JSON.stringify([findings.page, findings.pageTitle, findings.finalUrl])), [], 'metadata')
})

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
  const textsWith = async (maskSelectors: string[]) => {
    const { picture } = await stage.take('/secrets', { maskSelectors, format: 'pdf', pdfTagged: true, pdfOutline: true })
    return textsOf(picture)
  }
  t.ok(leaksIn(await textsWith(['.control'])).length > 5, 'the search finds them without a mask')
  t.strictSame(leaksIn(await textsWith(['.private', '.control'])), [])
})
