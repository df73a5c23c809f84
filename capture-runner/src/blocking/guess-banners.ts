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
  const found = []
  for (const element of document.body?.querySelectorAll('*') ?? []) {
    if (found.some((other) => other.contains(element)) || !isAbove(element)) continue
    const covered = share(element)
    if (covered === 0) continue
    const text = (element.innerText ?? '').slice(0, 5000)
    const says = words.test(text) && element.querySelector('button, [role=button], a, input') !== null
    // A veil: nothing to read, and the whole window covered.
    const isVeil = covered > 0.9 && text.trim() === '' && element.querySelector('img, video, canvas, svg, iframe') === null
    if (says || isVeil) found.push(element)
  }
  if (!found.some((element) => (element.innerText ?? '').trim() !== '')) return 0
  for (const element of found) element.style.setProperty('display', 'none', 'important')
  for (const element of [document.documentElement, document.body]) {
    if (getComputedStyle(element).overflowY === 'hidden') element.style.setProperty('overflow', 'visible', 'important')
  }
  return found.length
})()`
