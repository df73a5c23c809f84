import type { PageFunctions } from '../../../src/page/functions.ts'
import { attributeOf, boxOf, call, linkOf, nameOf, parentOf, queryAll, scrollingElement } from '../shared/dom.ts'
import { recall, remember } from '../shared/state.ts'
import { containerOf, findMatches, findRoots } from '../shared/tree.ts'

export const scrollWindow: PageFunctions['scrollWindow'] = (top, isEager) => {
  // A scroll down the page begins and ends at the top.
  if (isEager) loadEagerly(top === 0)
  // Where the page was scrolled to is not where it must begin if it loads again.
  history.scrollRestoration = 'manual'
  scrollTo({ top, left: 0, behavior: 'instant' })
  return { scrollHeight: scrollingElement()?.scrollHeight ?? 0, windowHeight: innerHeight }
}

/** Makes lazy images and frames load at once. @param isDeep also those in shadow roots and frames, whose search takes longer */
export function loadEagerly(isDeep = true): void {
  const roots = isDeep ? findRoots() : [document]
  for (const lazy of findMatches('img[loading=lazy], iframe[loading=lazy]', roots) as HTMLImageElement[]) lazy.loading = 'eager'
}

// A page that is shown whole does not scroll, but its scripts may show content only when it does.

export type ScrollTargets = readonly (EventTarget | null | undefined)[]

export function notifyOfScroll(targets: ScrollTargets): void {
  for (const target of targets) if (target) call(target, 'dispatchEvent', new Event('scroll', { bubbles: target instanceof Document }))
}

/** A highlight is a class of the link or of an enclosing list item, or `aria-current`. */
export const noteSectionLinks: PageFunctions['noteSectionLinks'] = () => {
  const noted = remember('tintypeSectionLinks', new Map())
  for (const link of queryAll(document, 'a[*|href*="#"]')) {
    if (!pointsToSection(link)) continue
    for (
      let element: Element | null | undefined = link;
      element && (element === link || nameOf(element) === 'li');
      element = enclosingItemOf(element)
    ) {
      if (noted.has(element)) break
      noted.set(element, { class: attributeOf(element, 'class'), 'aria-current': attributeOf(element, 'aria-current') })
    }
  }
}

function enclosingItemOf(element: Element): Element | null {
  const parent = parentOf(element)
  return parent && call(parent, 'closest', 'li')
}

function pointsToSection(element: Element): boolean {
  const link = linkOf(element)
  if (!link || link.hash.length < 2 || link.pathname !== location.pathname || link.host !== location.host) return false
  try {
    return document.getElementById(decodeURIComponent(link.hash.slice(1))) !== null
  } catch {
    return false
  }
}

export const restoreSectionLinks: PageFunctions['restoreSectionLinks'] = () => {
  const changed: Element[] = []
  for (const [element, attributes] of recall('tintypeSectionLinks') ?? []) {
    for (const [name, value] of Object.entries(attributes)) {
      if (attributeOf(element, name) === value) continue
      if (value === null) call(element, 'removeAttribute', name)
      else call(element, 'setAttribute', name, value)
      changed.push(element)
    }
  }
  for (const element of changed) {
    for (const animation of call(element, 'getAnimations', { subtree: true })) if (animation instanceof CSSTransition) animation.finish()
  }
}

/** A start or an end in a timeline. */
type Offset = string | { rangeName?: string | null; offset?: { unit?: string; value?: number } | null } | null | undefined

/** An animation as the browser has it; the types of the DOM lack the newer properties. */
interface ScrollAnimation {
  rangeStart?: Offset
  rangeEnd?: Offset
}

/** What an animation follows: all scroll pixels of its timeline, how many have passed in the middle of the window, and where its named ranges are in it, as shares. */
interface Course {
  all: number
  passed: number
  ranges: Readonly<Record<string, readonly [number, number]>>
}

export const freezeScrollAnimations: PageFunctions['freezeScrollAnimations'] = (windowHeight) => {
  for (const animation of document.getAnimations()) {
    const { timeline, effect } = animation
    const course = timeline && effect && courseOf(timeline, effect, windowHeight)
    if (!course) continue
    const { rangeStart, rangeEnd } = animation as ScrollAnimation
    const [start, end] = [shareOf(rangeStart, course, 0), shareOf(rangeEnd, course, 1)]
    const progress = end > start ? Math.min(1, Math.max(0, (course.passed / course.all - start) / (end - start))) : 1
    animation.timeline = document.timeline
    animation.pause()
    effect.updateTiming({ duration: 1000, delay: 0, endDelay: 0, fill: 'both' })
    animation.currentTime = progress * 1000
  }
}

function courseOf(timeline: AnimationTimeline, effect: AnimationEffect, windowHeight: number): Course | undefined {
  if (timeline instanceof ViewTimeline) return courseOfView(timeline.subject?.getBoundingClientRect().height ?? 0, windowHeight)
  if (!(timeline instanceof ScrollTimeline) || timeline.source !== scrollingElement()) return undefined
  const target = effect instanceof KeyframeEffect ? effect.target : null
  return target && !isFixed(target) ? courseOfScroll(target, windowHeight) : undefined
}

/** The way of the subject through the window. */
function courseOfView(subject: number, windowHeight: number): Course {
  const all = windowHeight + subject
  const [least, most] = [Math.min(windowHeight, subject) / all, Math.max(windowHeight, subject) / all]
  const ranges: Course['ranges'] = {
    contain: [least, most],
    entry: [0, least],
    exit: [most, 1],
    'entry-crossing': [0, subject / all],
    'exit-crossing': [windowHeight / all, 1],
  }
  return { all, passed: all / 2, ranges }
}

/** The way through the page, until the element is in the middle of the window. */
function courseOfScroll(target: Element, windowHeight: number): Course | undefined {
  // In the tall window, the page itself is no taller than that.
  const all = (recall('tintypeHeights')?.pageHeight ?? scrollingElement()?.scrollHeight ?? 0) - windowHeight
  const { top, height } = boxOf(target)
  const passed = Math.max(0, Math.min(all, top + scrollY + (height - windowHeight) / 2))
  return all > 0 ? { all, passed, ranges: {} } : undefined
}

/** Elements that are fixed to the window look as at the top of the page. */
function isFixed(element: Element): boolean {
  for (let outer: Element | undefined = element; outer; outer = containerOf(outer)) {
    if (getComputedStyle(outer).position === 'fixed') return true
  }
  return false
}

/** Where a start or an end is, from 0 to 1. */
function shareOf(offset: Offset, { all, ranges }: Course, otherwise: number): number {
  if (typeof offset !== 'object' || !offset?.offset) return otherwise
  const { unit, value = 0 } = offset.offset
  const [from, to] = ranges[offset.rangeName ?? ''] ?? [0, 1]
  if (unit === 'px') return from + value / all
  return unit === 'percent' ? from + (value / 100) * (to - from) : from
}
