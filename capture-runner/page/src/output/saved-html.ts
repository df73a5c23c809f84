// The document as HTML that shows the page as it was, when a browser opens it without the page's scripts. It is made from a copy in a document without a
// window, where nothing is loaded and no component of the page is created.

import type { PageFunctions, SavedHtml } from '../../../src/page/functions.ts'
import { isInSight } from '../shared/boxes.ts'
import { attributeOf, call, createHtml, isHtml, nameOf, queryAll, type Root, read, setStyle } from '../shared/dom.ts'
import { isSecret, TYPED } from '../shared/fields.ts'
import { frameDocumentOf, shadowRootOf } from '../shared/tree.ts'

export const readHtml: PageFunctions['readHtml'] = () => {
  const copy = new PageCopy()
  const html = copy.toHtml(document)
  return { html, lost: copy.lost }
}

/** Maximum characters of all pictures that are written into the file. */
const MAX_DATA = 8_000_000

/** What the page's own rules about its files would do to a copy on a disk: reload it, or refuse its style sheets. */
const DROPPED_META = /^(content-type|content-security-policy|content-security-policy-report-only|refresh)$/i
/** Scripts would change what is shown. */
const POLICY = "script-src 'none'"
/** Fields with a value that people choose. The value of others is their attribute. */
const CHOSEN = /^(range|color|date|time|month|week|datetime-local)$/

class PageCopy {
  readonly lost: SavedHtml['lost'] = {}
  #room = MAX_DATA

  toHtml(page: Document): string {
    const root = page.documentElement as Element | null
    if (!root) return ''
    const inert = document.implementation.createHTMLDocument('')
    const copy = inert.importNode(root, true)
    this.#finishAll(queryAll(page, '*'), [copy, ...queryAll(copy, '*')], inert)
    const html = isHtml(copy) && nameOf(copy) === 'html' ? copy : wrap(copy, inert)
    const head = queryAll(html, ':scope > head')[0] ?? html.insertBefore(createHtml('head', inert), html.firstChild)
    head.prepend(...headOf(page, inert))
    addAdopted(page, html, head, inert)
    closeTexts(html)
    return doctypeOf(page) + html.outerHTML
  }

  #finishAll(elements: readonly Element[], copies: readonly Element[], inert: Document): void {
    const isPinned = elements.some(isComponent) && hasRulesForDefined(elements[0])
    for (const [index, element] of elements.entries()) {
      const copy = copies[index]
      if (!copy) break
      if (isPinned && isComponent(element)) {
        const { visibility, opacity, display } = getComputedStyle(element)
        setStyle(copy, { visibility, opacity, display })
      }
      this.#finish(element, copy, inert)
      const root = shadowRootOf(element)
      if (root) call(copy, 'prepend', this.#toTemplate(root, inert))
    }
  }

  #toTemplate(root: ShadowRoot, inert: Document): HTMLTemplateElement {
    const template = createHtml('template', inert)
    template.setAttribute('shadowrootmode', root.mode)
    for (const name of ['delegatesFocus', 'clonable', 'serializable'] as const) {
      if (root[name]) template.setAttribute(`shadowroot${name.toLowerCase()}`, '')
    }
    template.content.append(...[...root.childNodes].map((node) => inert.importNode(node, true)))
    this.#finishAll(queryAll(root, '*'), queryAll(template.content, '*'), inert)
    addAdopted(root, template.content, template.content, inert)
    return template
  }

  #finish(element: Element, copy: Element, inert: Document): void {
    const name = nameOf(element)
    if (name === 'style') keepRules(element as HTMLStyleElement, copy, inert)
    if (!isHtml(element)) return
    if (call(element, 'matches', ':modal, :popover-open')) pinTopLayer(element, copy)
    if (name === 'input') keepInput(element as HTMLInputElement, copy)
    else if (name === 'textarea') keepTextarea(element as HTMLTextAreaElement, copy)
    else if (name === 'option') toggle(copy, 'selected', read(element as HTMLOptionElement, 'selected'))
    else if (name === 'select') keepSelect(element as HTMLSelectElement, copy, inert)
    else if (name === 'meta') keepMeta(copy)
    else if (name === 'base') call(copy, 'removeAttribute', 'href')
    else if (name === 'link') keepLink(element as HTMLLinkElement, copy, inert)
    else if (name === 'noscript') keepNoscript(element, copy)
    else if (name === 'canvas') this.#keepCanvas(element as HTMLCanvasElement, copy)
    else if (name === 'img') this.#keepImage(element as HTMLImageElement, copy)
    else if (name === 'video' || name === 'audio') this.#keepMedia(element as HTMLMediaElement)
    else if (name === 'iframe') this.#keepFrame(element as HTMLIFrameElement, copy)
    // Parsers drop a line break at the beginning.
    if (/^(pre|listing|textarea)$/.test(name) && read(copy, 'textContent')?.startsWith('\n')) call(copy, 'prepend', '\n')
  }

  #keepCanvas(canvas: HTMLCanvasElement, copy: Element): void {
    const [width, height] = [read(canvas, 'width'), read(canvas, 'height')]
    if (!isInSight(canvas) || width === 0 || height === 0) return
    const data = this.#toData(canvas)
    const isBlank = data === this.#toData(newCanvas(width, height))
    // A canvas of WebGL forgets its drawing once it is shown, and has no other context.
    if (data === undefined || (isBlank && call(canvas, 'getContext', '2d') === null)) this.#lose('canvas')
    else if (!isBlank && this.#take(data, 'canvas')) {
      const { backgroundImage, backgroundSize, backgroundOrigin, backgroundRepeat, backgroundPosition } = getComputedStyle(canvas)
      const image = backgroundImage === 'none' ? [] : [backgroundImage]
      setStyle(copy, {
        'background-image': [`url("${data}")`, ...image].join(),
        'background-size': `100% 100%, ${backgroundSize}`,
        'background-origin': `content-box, ${backgroundOrigin}`,
        'background-repeat': `no-repeat, ${backgroundRepeat}`,
        'background-position': `0 0, ${backgroundPosition}`,
      })
    }
  }

  /** Images of `blob:` URLs end with the page. */
  #keepImage(image: HTMLImageElement, copy: Element): void {
    call(copy, 'removeAttribute', 'crossorigin')
    if (!/^blob:/.test(attributeOf(image, 'src') ?? '')) return
    const [width, height] = [read(image, 'naturalWidth'), read(image, 'naturalHeight')]
    const canvas = newCanvas(width, height)
    if (width > 0) canvas.getContext('2d')?.drawImage(image, 0, 0, width, height)
    const data = width > 0 ? this.#toData(canvas) : undefined
    if (data === undefined) this.#lose('img')
    else if (this.#take(data, 'img')) call(copy, 'setAttribute', 'src', data)
  }

  #keepMedia(media: HTMLMediaElement): void {
    const isOfScript = /^blob:/.test(read(media, 'currentSrc')) || read(media, 'srcObject') !== null
    if (isOfScript && isInSight(media)) this.#lose(nameOf(media))
  }

  /** The site may refuse to be a frame of a file, and scripts may have changed the frame. */
  #keepFrame(frame: HTMLIFrameElement, copy: Element): void {
    const inner = frameDocumentOf(frame)
    if (inner) call(copy, 'setAttribute', 'srcdoc', this.toHtml(inner))
    else if (/^blob:/.test(read(frame, 'src')) && isInSight(frame)) this.#lose('iframe')
  }

  /** The picture of a canvas; undefined if the page drew images of other origins into it. */
  #toData(canvas: HTMLCanvasElement): string | undefined {
    try {
      return call(canvas, 'toDataURL')
    } catch {
      return undefined
    }
  }

  #take(data: string, name: string): boolean {
    if (data.length > this.#room) {
      this.#lose(name)
      return false
    }
    this.#room -= data.length
    return true
  }

  #lose(name: string): void {
    this.lost[name] = (this.lost[name] ?? 0) + 1
  }
}

function newCanvas(width: number, height: number): HTMLCanvasElement {
  const canvas = createHtml('canvas', document)
  canvas.width = width
  canvas.height = height
  return canvas
}

const doctypeOf = ({ doctype, compatMode, contentType }: Document): string => {
  if (doctype && contentType === 'text/html') return `${new XMLSerializer().serializeToString(doctype)}\n`
  return compatMode === 'CSS1Compat' ? '<!DOCTYPE html>\n' : ''
}

/** A drawing that is a document fills the window. */
const ALONE =
  'html, body { margin: 0; height: 100% } body > svg { display: block } body > svg:not([width]) { width: 100% } body > svg:not([height]) { height: 100% }'

/** An HTML document with the root element of a document in another vocabulary. */
function wrap(root: Element, inert: Document): Element {
  const html = inert.documentElement
  const style = createHtml('style', inert)
  style.textContent = ALONE
  inert.head.replaceChildren(style)
  inert.body.replaceChildren(root)
  return html
}

/** What a saved document needs at its beginning: its encoding, within the first 1024 bytes, no scripts, and the URL to which its links refer. */
function headOf(page: Document, inert: Document): Element[] {
  const create = <Name extends 'meta' | 'base' | 'link'>(name: Name, attributes: Readonly<Record<string, string>>) => {
    const element = createHtml(name, inert)
    for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value)
    return element
  }
  const sheets = [...page.childNodes].flatMap((node) => {
    const text = node.nodeName === 'xml-stylesheet' ? (node.nodeValue ?? '') : ''
    const [, href] = /\bhref\s*=\s*["']([^"']*)/.exec(text) ?? []
    return href === undefined ? [] : [create('link', { rel: 'stylesheet', href })]
  })
  const { protocol, hostname } = new URL(page.baseURI)
  // Markup of a request has no URL, and a frame without one has that of its page.
  const isKnown = /^https?:$/.test(protocol) && !hostname.endsWith('.invalid')
  return [
    create('meta', { charset: 'utf-8' }),
    create('meta', { 'http-equiv': 'Content-Security-Policy', content: POLICY }),
    ...(isKnown ? [create('base', { href: page.baseURI })] : []),
    ...sheets,
  ]
}

/** CSS that cannot end its `<style>` element. */
const textOf = (sheet: CSSStyleSheet): string => [...sheet.cssRules].map(({ cssText }) => cssText.replaceAll('</', '<\\/')).join('\n')

/** Scripts can write texts that would end their element, or their comment, in a file. In CSS and in strings of scripts, the new letters mean the same. */
function closeTexts(tree: ParentNode & Node): void {
  for (const element of queryAll(tree, 'style, script, xmp, noembed, noframes, template')) {
    const [name, text] = [nameOf(element), read(element, 'textContent') ?? '']
    if (name === 'template') closeTexts(read(element as HTMLTemplateElement, 'content'))
    else if (name === 'style') setText(element, text, text.replaceAll('</', '<\\/'))
    else if (name === 'script') setText(element, text, text.replace(/<(?=\/?script|!--)/gi, '\\u003C'))
    else setText(element, text, text.replaceAll('</', '<\u200B/'))
  }
  const comments = (read(tree as Node, 'ownerDocument') ?? document).createNodeIterator(tree, NodeFilter.SHOW_COMMENT)
  for (let node = comments.nextNode() as Comment | null; node; node = comments.nextNode() as Comment | null)
    if (/^-?>|--!?>|--$/.test(node.data)) node.data = node.data.replaceAll('>', ' ')
}

function setText(element: Element, text: string, safe: string): void {
  if (safe !== text) element.textContent = safe
}

/** Adds the style sheets that scripts have constructed. They come after all others. */
function addAdopted(root: Root, copy: ParentNode, otherwise: ParentNode, inert: Document): void {
  const styles = root.adoptedStyleSheets
    .filter(({ disabled }) => !disabled)
    .map((sheet) => {
      const style = createHtml('style', inert)
      style.textContent = textOf(sheet)
      if (sheet.media.mediaText !== '') style.setAttribute('media', sheet.media.mediaText)
      return style
    })
  if (styles.length === 0) return
  const last = queryAll(copy, 'style, link[rel~=stylesheet]').at(-1)
  if (last) call(last, 'after', ...styles)
  else otherwise.append(...styles)
}

/** Scripts can add rules that are not in the text of the element. */
function keepRules(style: HTMLStyleElement, copy: Element, inert: Document): void {
  const sheet = read(style, 'sheet')
  if (!sheet) return
  if (sheet.disabled) call(copy, 'setAttribute', 'media', 'not all')
  const written = createHtml('style', inert)
  written.textContent = read(style, 'textContent')
  inert.head.append(written)
  const rules = textOf(sheet)
  if (!written.sheet || rules !== textOf(written.sheet)) copy.textContent = rules
  written.remove()
}

/** A file has no origin, so servers refuse it what needs one. */
function keepLink(link: HTMLLinkElement, copy: Element, inert: Document): void {
  for (const name of ['crossorigin', 'integrity']) call(copy, 'removeAttribute', name)
  const sheet = read(link, 'sheet')
  if (!sheet) return
  if (sheet.disabled) call(copy, 'setAttribute', 'disabled', '')
  if (!/^blob:/.test(read(link, 'href'))) return
  const style = createHtml('style', inert)
  style.textContent = textOf(sheet)
  style.setAttribute('media', sheet.disabled ? 'not all' : sheet.media.mediaText)
  call(copy, 'replaceWith', style)
}

const toggle = (copy: Element, name: string, isOn: boolean): void =>
  isOn ? call(copy, 'setAttribute', name, '') : call(copy, 'removeAttribute', name)

/** As many dots as the page shows. */
const dotsOf = (value: string): string => '•'.repeat(value.length)

function keepInput(input: HTMLInputElement, copy: Element): void {
  const type = read(input, 'type')
  if (type === 'checkbox' || type === 'radio') toggle(copy, 'checked', read(input, 'checked'))
  if (!TYPED.test(type) && !CHOSEN.test(type)) return
  const value = isSecret(input) ? dotsOf(read(input, 'value')) : read(input, 'value')
  if (value === '' || (isSecret(input) && !isInSight(input))) call(copy, 'removeAttribute', 'value')
  else if (isInSight(input)) call(copy, 'setAttribute', 'value', value)
}

function keepTextarea(field: HTMLTextAreaElement, copy: Element): void {
  if (isSecret(field)) copy.textContent = dotsOf(read(field, 'value'))
  else if (isInSight(field)) copy.textContent = read(field, 'value')
}

/** A menu without a chosen option would show the first one. */
function keepSelect(select: HTMLSelectElement, copy: Element, inert: Document): void {
  if (read(select, 'selectedIndex') >= 0 || read(select, 'multiple') || read(select, 'size') > 1) return
  const none = createHtml('option', inert)
  for (const name of ['selected', 'hidden', 'disabled']) none.setAttribute(name, '')
  call(copy, 'prepend', none)
}

function keepMeta(copy: Element): void {
  if (call(copy, 'hasAttribute', 'charset') || DROPPED_META.test(attributeOf(copy, 'http-equiv') ?? '')) call(copy, 'remove')
}

/** Whether its content is shown depends on where the file is opened. */
function keepNoscript(element: Element, copy: Element): void {
  const isOfHead = nameOf(read(element, 'parentElement') ?? element) === 'head'
  const isShown = isOfHead ? read(element, 'firstElementChild') !== null : call(element, 'checkVisibility')
  if (isShown) call(copy, 'replaceWith', ...read(copy, 'childNodes'))
  else call(copy, 'replaceChildren')
}

/** Without scripts, nothing opens a modal dialog or a popover, so it is placed where it was. */
function pinTopLayer(element: Element, copy: Element): void {
  const style: Record<string, string> = {}
  for (const [name, values] of call(element, 'computedStyleMap')) {
    if (!/^(--|animation|transition)/.test(name)) style[name] = [...values].join(', ')
  }
  const { backgroundColor, opacity } = getComputedStyle(element, '::backdrop')
  const backdrop = `0 0 0 200vmax color-mix(in srgb, ${backgroundColor} ${Number(opacity) * 100}%, transparent)`
  const own = getComputedStyle(element).boxShadow
  setStyle(copy, { ...style, 'z-index': '2147483647', 'box-shadow': own === 'none' ? backdrop : `${own}, ${backdrop}` })
}

/** True for a component that a script has defined. In the file it is not. */
const isComponent = (element: Element): boolean => nameOf(element).includes('-') && isHtml(element) && call(element, 'matches', ':defined')

/** True if a style sheet distinguishes components that are defined, to hide the others. Those of other origins cannot be read. */
function hasRulesForDefined(element: Element | undefined): boolean {
  const root = element && (call(element, 'getRootNode') as Root)
  const hasOne = (rules: CSSRuleList): boolean =>
    [...rules].some(
      (rule) =>
        ('selectorText' in rule && String(rule.selectorText).includes(':defined')) ||
        ('cssRules' in rule && hasOne(rule.cssRules as CSSRuleList)),
    )
  return [...(root?.styleSheets ?? []), ...(root?.adoptedStyleSheets ?? [])].some((sheet) => {
    try {
      return hasOne(sheet.cssRules)
    } catch {
      return false
    }
  })
}
