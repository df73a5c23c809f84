import { awaitResponse } from '../../runtime/race.ts'
import type { Step } from '../step.ts'
import { restoreSectionLinks } from './section-links.ts'

// Shows content that appears on scroll (ADR 34). The page is laid out in a window as tall as itself until it is stable. Then its scripts are switched
// off, and it is laid out in its own window again, so that the content stays visible. The browser paints no more than before.

/** Maximum number of elements whose heights are compared. Larger pages take seconds for a layout anyway. */
const MAX_ELEMENTS = 20_000

/** Shows the page in a window as tall as itself. */
export const reveal: Step = {
  name: 'reveal',
  isWanted: (plan) => plan.picture.reveal,
  run: async (work) => {
    const { tab, plan, signal } = work
    const pageHeight = await tab.evaluate<number>(`(${prepare})(${MAX_ELEMENTS})`, signal)
    const { viewport } = plan.context
    const height = Math.min(pageHeight, plan.picture.reach)
    if (height <= viewport.height || !tab.layOut) return
    await awaitResponse(tab.layOut(height), signal)
    await tab.evaluate(PIN, signal)
    work.isRevealed = true
  },
}

/** Keeps the content that has appeared, and restores the page's own window. */
export const conceal: Step = {
  name: 'conceal',
  isWanted: (plan) => plan.picture.reveal,
  run: async (work) => {
    const { tab, plan, signal } = work
    if (!work.isRevealed || !tab.layOut) return
    await awaitResponse(tab.session.send('Emulation.setScriptExecutionDisabled', { value: true }), signal)
    await restoreSectionLinks(work)
    const { height } = plan.context.viewport
    await tab.evaluate(`(${freezeViewAnimations})(${height})`, signal)
    await awaitResponse(tab.layOut(), signal)
    // Scripts may have made elements as tall as the page. These keep their height, unless the client wants a tall window.
    await tab.evaluate(`(${unpin})(${!plan.picture.beyondWindow})`, signal)
  },
}

/**
 * Runs in the page. Makes content visible that the browser skips, and records the height of each element. Pins elements as tall as the window
 * before a script can see another window. Returns the page's height.
 */
const prepare = `(max) => {
  const all = [...document.querySelectorAll('*')].slice(0, max)
  for (const element of all) {
    if (!element.style) continue
    const { contentVisibility, backgroundAttachment } = getComputedStyle(element)
    if (contentVisibility === 'auto') element.style.setProperty('content-visibility', 'visible', 'important')
    if (backgroundAttachment.includes('fixed')) element.style.setProperty('background-attachment', 'scroll', 'important')
  }
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets.push(sheet)
  const pinned = new Map()
  const pin = (element, height) => {
    const style = getComputedStyle(element)
    const around = style.boxSizing === 'border-box' ? 0
      : ['paddingTop', 'paddingBottom', 'borderTopWidth', 'borderBottomWidth'].reduce((sum, side) => sum + parseFloat(style[side]), 0)
    const own = Math.max(0, height - around) + 'px'
    const rule = height > windowHeight ? 'height: auto; min-height: ' + own : 'height: ' + own + '; min-height: 0; max-height: ' + own
    element.setAttribute('data-tintype-height', pinned.size)
    sheet.insertRule('[data-tintype-height="' + pinned.size + '"] { ' + rule.replaceAll(/;|$/g, ' !important;') + ' }')
    pinned.set(element, height)
  }
  const windowHeight = innerHeight
  const isPart = (element) => element instanceof HTMLElement && element !== document.documentElement && element !== document.body
  const heights = new Map(all.filter(isPart).map((element) => [element, element.offsetHeight]))
  const pageHeight = (document.scrollingElement ?? document.documentElement).scrollHeight
  globalThis.tintypeHeights = { heights, pin, pinned, windowHeight }
  if (pageHeight > windowHeight) for (const [element, height] of heights) if (height === windowHeight) pin(element, height)
  return pageHeight
}`

/** Runs in the page, in the tall window. Elements that grew with the window get their old height back, innermost first. */
const PIN = `(() => {
  const { heights, pin } = globalThis.tintypeHeights
  for (const [element, height] of [...heights].reverse()) if (height > 0 && element.offsetHeight !== height) pin(element, height)
  dispatchEvent(new Event('scroll'))
  document.dispatchEvent(new Event('scroll', { bubbles: true }))
})()`

/** Runs in the page. Unpins all elements, or those that may have grown with new content. An element that a script shrank is pinned again. */
const unpin = `(isAll) => {
  const { pinned, windowHeight } = globalThis.tintypeHeights
  const released = [...pinned].filter(([, height]) => isAll || height > windowHeight)
  const numbers = released.map(([element]) => element.getAttribute('data-tintype-height'))
  for (const [element] of released) element.removeAttribute('data-tintype-height')
  if (isAll) return
  const smaller = released.map(([element, height]) => element.offsetHeight < height)
  released.forEach(([element], i) => { if (smaller[i]) element.setAttribute('data-tintype-height', numbers[i]) })
}`

/** Runs in the page. Stops view-timeline animations in the state that they have in the middle of the window. */
const freezeViewAnimations = `(windowHeight) => {
  const share = (offset, subject, fallback) => {
    if (typeof offset !== 'object' || !offset?.offset) return fallback
    const part = offset.offset.unit === 'percent' ? offset.offset.value / 100 : 0
    const all = windowHeight + subject
    const [least, most] = [Math.min(windowHeight, subject) / all, Math.max(windowHeight, subject) / all]
    const [from, to] = { cover: [0, 1], contain: [least, most], entry: [0, least], exit: [most, 1],
      'entry-crossing': [0, subject / all], 'exit-crossing': [windowHeight / all, 1] }[offset.rangeName] ?? [0, 1]
    return from + part * (to - from)
  }
  for (const animation of document.getAnimations()) {
    if (!(animation.timeline instanceof ViewTimeline) || !animation.effect) continue
    const subject = animation.timeline.subject?.getBoundingClientRect().height ?? 0
    const start = share(animation.rangeStart, subject, 0)
    const end = share(animation.rangeEnd, subject, 1)
    const progress = end > start ? Math.min(1, Math.max(0, (0.5 - start) / (end - start))) : 1
    animation.timeline = document.timeline
    animation.pause()
    animation.effect.updateTiming({ duration: 1000, delay: 0, endDelay: 0, fill: 'both' })
    animation.currentTime = progress * 1000
  }
}`
