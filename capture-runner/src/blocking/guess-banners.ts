// Guesses what is a banner by how it lies on the page and by what it says, for banners that no list knows. It takes only boxes that lie above the
// page and do not move with it; the page's own bars say none of the words.

const WORDS =
  'cookie|consent|gdpr|privacy|datenschutz|einwillig|confidentialit|privacidad|newsletter|subscribe|sign up|notification|install (the|our) app|download (the|our) app'

/** Hides what looks like a banner or an overlay; gives their number. An expression for the page, synchronous. */
export const guessBanners = `(() => {
  const words = /${WORDS}/i
  const area = innerWidth * innerHeight
  const isAbove = (element) => {
    const style = getComputedStyle(element)
    if (style.display === 'none' || style.visibility === 'hidden') return false
    return style.position === 'fixed' || style.position === 'sticky' || (style.position === 'absolute' && Number(style.zIndex) >= 100)
  }
  const share = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect()
    const width = Math.min(right, innerWidth) - Math.max(left, 0)
    const height = Math.min(bottom, innerHeight) - Math.max(top, 0)
    return width > 0 && height > 0 ? (width * height) / area : 0
  }
  // Elements below one, with those in open shadow roots; each after all that is around it.
  const below = (element) => {
    const found = []
    const roots = element.shadowRoot ? [element, element.shadowRoot] : [element]
    for (const root of roots) {
      for (const inner of root.querySelectorAll('*')) {
        found.push(inner)
        if (inner.shadowRoot) roots.push(inner.shadowRoot)
      }
    }
    return found
  }
  const isWithin = (element, other) => {
    for (let node = element; node; node = node.parentNode ?? node.host) if (node === other) return true
    return false
  }
  const shownIn = (node) => node.nodeType === Node.TEXT_NODE ? node.data : /^(style|script|template)$/i.test(node.tagName) ? '' : (node.innerText ?? '')
  // innerText leaves shadow roots out.
  const textOf = (element) =>
    [element, ...below(element)].flatMap(({ shadowRoot }) => (shadowRoot ? [...shadowRoot.childNodes].map(shownIn) : []))
      .concat(element.innerText ?? '').join(' ').slice(0, 5000)
  const has = (element, selector) => below(element).some((inner) => inner.matches(selector))
  const found = []
  for (const element of document.body ? below(document.body) : []) {
    if (!isAbove(element) || found.some((other) => isWithin(element, other))) continue
    const covered = share(element)
    if (covered === 0) continue
    const text = textOf(element)
    const says = words.test(text) && has(element, 'button, [role=button], a, input')
    // A veil: nothing to read, and the whole window covered.
    const isVeil = covered > 0.9 && text.trim() === '' && !has(element, 'img, video, canvas, svg, iframe')
    if (says || isVeil) found.push(element)
  }
  if (!found.some((element) => textOf(element).trim() !== '')) return 0
  for (const element of found) element.style.setProperty('display', 'none', 'important')
  for (const element of [document.documentElement, document.body]) {
    if (getComputedStyle(element).overflowY === 'hidden') element.style.setProperty('overflow', 'visible', 'important')
  }
  return found.length
})()`
