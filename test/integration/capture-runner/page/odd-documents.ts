import type { Source } from './lab.ts'

// Legal documents that mislead code which reads the DOM carelessly.

/** Properties of elements and documents that a control or an image can hide by its name. */
const NAMES = `
  style id children hash parentElement parentNode getAttribute setAttribute removeAttribute querySelector
  querySelectorAll getClientRects getBoundingClientRect matches className classList localName tagName shadowRoot
  innerText scrollHeight clientHeight clientWidth offsetHeight offsetWidth scrollIntoView contains namespaceURI
  body head documentElement scrollingElement images fonts title getAnimations timeline createElement
  adoptedStyleSheets activeElement getElementById getElementsByTagName doctype elementFromPoint implementation
  baseURI childNodes nodeType ownerDocument click remove append attachShadow value href attributes host
  checkVisibility dispatchEvent defaultView createRange createDocumentFragment outerHTML closest hasAttribute`
  .trim()
  .split(/\s+/)
const CONTROLS = NAMES.map((name) => `<input name="${name}">`).join('')
const SECTIONS = '<p id="target" style="height:1500px">Sold out</p>'
const xhtml = (inner: string): Source => ({
  text: `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">${inner}</html>`,
  contentType: 'application/xhtml+xml',
})

export const oddDocuments: Record<string, string | Source> = {
  'controls of a form that are called like its properties': `<!doctype html><title>Form</title>
    <form class="target" style="position:fixed;top:0;width:100%;height:100vh;overflow:auto">${CONTROLS}<a href="#target">jump</a>${SECTIONS}</form>${SECTIONS}`,
  'images that are called like properties of the document': `<!doctype html><title>Images</title>
    ${NAMES.map((name) => `<img name="${name}" alt="">`).join('')}<a href="#target">jump</a>${SECTIONS}`,
  'links of SVG and MathML': `<!doctype html><title>Links</title><svg width="300" height="300"><a href="#target" class="here"><rect width="9" height="9"/></a>
    <a xlink:href="/other"><rect width="9" height="9"/></a></svg><math href="#target"><mi href="/x#target">x</mi></math>${SECTIONS}`,
  'a document without a root element': '<!doctype html><title>Gone</title><script>document.documentElement.remove()</script>',
  'a document without a body': '<!doctype html><title>Headless</title><script>document.body?.remove(); document.head.remove()</script>',
  'a frameset in the place of the body':
    '<!doctype html><title>Frames</title><frameset cols="50%,50%"><frame src="/frame"><frame src="/frame"></frameset>',
  'an XHTML document': xhtml(`<head><title>XHTML</title></head><body><a href="#target">jump</a>${SECTIONS}</body>`),
  'an XHTML document without a body': xhtml('<head><title>XHTML</title></head>'),
  'an SVG document': {
    text: `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="800" height="2000"><title>Map</title>
      <a xlink:href="#target"><rect class="target" width="99" height="99"><animate attributeName="x" to="9" dur="1s" repeatCount="indefinite"/></rect></a>
      <text id="target" y="300">Sold out</text></svg>`,
    contentType: 'image/svg+xml',
  },
  'an XML document': {
    text: '<items><style id="target">Sold out</style><children href="#target"/></items>',
    contentType: 'application/xml',
  },
  'scripts that redefine what a page shares with others': `<!doctype html><title>Redefined</title><a href="#target">jump</a>${SECTIONS}<script>
    const refuse = () => { throw new Error('redefined') }
    Object.assign(globalThis, { Map: refuse, Set: refuse, JSON: {}, URL: refuse, getComputedStyle: refuse, scrollTo: refuse, MutationObserver: refuse })
    for (const name of ['remove', 'append', 'getAttribute', 'querySelectorAll', 'matches', 'attachShadow']) Element.prototype[name] = refuse
    for (const name of ['querySelector', 'querySelectorAll', 'createElement', 'getAnimations']) Document.prototype[name] = refuse
    Array.prototype.map = Array.prototype.filter = Array.prototype[Symbol.iterator] = Object.entries = Object.getPrototypeOf = Reflect.get = refuse
  </script>`,
  'elements whose ids are the names that the runner uses': `<!doctype html><title>Names</title>
    ${['Heights', 'Motion', 'Changes', 'Clicked', 'SectionLinks', 'Scroller', 'Frame'].map((name) => `<div id="tintype${name}"></div>`).join('')}${SECTIONS}`,
}

export const FRAME = '<!doctype html><p>A frame</p>'
