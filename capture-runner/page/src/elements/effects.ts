import type { PageFunctions } from '../../../src/page/functions.ts'
import { findFirstVisible, inWindow, isInSight, onPage, shareOfWindow } from '../shared/boxes.ts'
import { attributeOf, boxOf, call, nameOf, queryAll, read } from '../shared/dom.ts'
import { type Effect, recall, remember } from '../shared/state.ts'
import { allElements, containerOf, findMatches, findRoots, frameDocumentOf, holdersOf, shadowRootOf } from '../shared/tree.ts'
import { isEndless, runsOnTime } from '../waiting/animations.ts'
import { toSelector } from '../waiting/moving-areas.ts'

// What an action of the client changes in the page, as a reader sees it: elements that it shows, hides or makes look different, texts, values and the
// focus. It is undone if a reader sees again what was there before, whatever the page did for that.

/** Changes that follow a scroll within this time are caused by it, unless the pointer or the keyboard was used since. */
const SCROLL_MILLISECONDS = 50
const MAX_EFFECTS = 100
/** Number of them that are named. Names take long in large pages. */
const MAX_NAMES = 5
/** Elements whose look is compared; of others, up to the second number, only whether they are seen. Larger pages take seconds for a layout anyway. */
const MAX_LOOKS = 10_000
const MAX_ELEMENTS = 50_000
const SEEN = 'seen'
/** Windows that are scrolled through after an action until scrolls count no more: what survives them is not undone by others. */
const MAX_WINDOWS = 3
/** A timer that a handler of the scroll or of the new size starts changes the page within this time. */
const LATE_MILLISECONDS = 300
/** When to look, before it ends. */
const REVIEWS = [10, 250]
/** How often a change of the page is checked for what it brings back. */
const MAX_RETURN_CHECKS = 200
/** Share of the window from which an element stands for the page. */
const WHOLE = 0.5

export const noteEffects: PageFunctions['noteEffects'] = () => {
  const changes: MutationRecord[] = []
  const scrolled = new Set<Node>()
  let [scrolledAt, changedAt] = [Number.NEGATIVE_INFINITY, performance.now()]
  const note = (records: readonly MutationRecord[]) => {
    if (performance.now() - scrolledAt < SCROLL_MILLISECONDS) {
      for (const { type, target, addedNodes } of records)
        for (const node of type === 'childList' ? addedNodes : [target]) scrolled.add(node)
      return
    }
    changedAt = performance.now()
    changes.push(...records)
  }
  const observer = new MutationObserver(note)
  const kinds = { subtree: true, childList: true, attributes: true, characterDataOldValue: true }
  for (const root of findRoots()) observer.observe(root, kinds)
  const onScroll = () => {
    scrolledAt = performance.now()
  }
  const onUse = () => {
    note(observer.takeRecords())
    scrolledAt = Number.NEGATIVE_INFINITY
  }
  const uses = ['mousedown', 'click', 'keydown']
  addEventListener('scroll', onScroll, { capture: true, passive: true })
  for (const use of uses) addEventListener(use, onUse, { capture: true })
  const values = new Map(findControls().map((control) => [control, contentOf(control)]))
  const [looks, focused] = [readLooks(), focusedElement()]
  review()
  remember('tintypeAction', {
    restedFor: () => performance.now() - changedAt,
    end: () => {
      note(observer.takeRecords())
      observer.disconnect()
      removeEventListener('scroll', onScroll, { capture: true })
      for (const use of uses) removeEventListener(use, onUse, { capture: true })
      return { changes, scrolled, looks, values, focused }
    },
  })
}

export const restOfAction: PageFunctions['restOfAction'] = () =>
  document.getAnimations().some((animation) => runsOnTime(animation) && !isEndless(animation))
    ? 0
    : (recall('tintypeAction')?.restedFor() ?? Number.POSITIVE_INFINITY)

/** What a reader sees of each element: empty for one that is not seen. */
const readLooks = (): Map<Element, string> =>
  new Map(
    allElements()
      .slice(0, MAX_ELEMENTS)
      .map((element, index) => [element, index < MAX_LOOKS ? lookOf(element) : isSeen(element) ? SEEN : '']),
  )

function lookOf(element: Element): string {
  if (!isSeen(element)) return ''
  const { color, backgroundColor, opacity, overflowY } = getComputedStyle(element)
  // The height of an element matters if it hides the rest of its content.
  const height = overflowY === 'visible' ? '' : Math.round(boxOf(element).height)
  const source = nameOf(element) === 'img' ? attributeOf(element, 'src') : ''
  return [color, backgroundColor, opacity, height, source].join()
}

/** True if the element has a box that a reader can scroll to. Menus may wait at a side of the window. */
function isSeen(element: Element): boolean {
  if (!isInSight(element)) return false
  const { width, height, left, right } = boxOf(element)
  return width > 0 && height > 0 && right > 0 && left < innerWidth
}

export const keepEffects: PageFunctions['keepEffects'] = (action) => {
  const noted = recall('tintypeAction')?.end()
  if (!noted) return
  if (!recall('tintypeEffects')) watchDisturbances()
  // What this action has undone itself.
  review('forget')
  const effects = recall('tintypeEffects') ?? remember('tintypeEffects', [])
  const first = effects.length
  const isFull = () => effects.length >= first + MAX_EFFECTS
  const { looks: before } = noted
  const after = readLooks()
  const parents = new Set<Element>()
  const keep = (element: Element, isUndone: () => boolean, isFocus = false) => {
    const name = effects.length < first + MAX_NAMES ? toSelector(element) : nameOf(element)
    effects.push({ action, element, name, isUndone, isFocus, isLost: false, isCertain: false, wasUndone: false, hasReturned: false })
    for (let at = containerOf(element); at && !isFocus; at = containerOf(at)) parents.add(at)
  }
  const byScroll = [...noted.scrolled].filter((node) => node.nodeType !== Node.ELEMENT_NODE || shareOfWindow(node as Element) < WHOLE)
  const isOwn = (element: Element) => !byScroll.some((node) => node.contains(element))

  const shown = new Set<Element>()
  for (const [element, look] of after) {
    const old = before.get(element) ?? (before.size < MAX_ELEMENTS ? '' : undefined)
    if (!look || old !== '' || isFull()) continue
    shown.add(element)
    const outer = containerOf(element)
    if (!(outer && shown.has(outer)) && isOwn(element) && !isWorking(element)) keep(element, goneTest(element, after))
  }
  const hidden = new Set<Element>()
  for (const [element, look] of before) {
    if (!look || isFull() || (after.get(element) ?? lookOf(element))) continue
    hidden.add(element)
    const outer = containerOf(element)
    if (!(outer && hidden.has(outer)) && isOwn(element)) keep(element, () => isSeen(element))
  }
  for (const [element, text] of firstTexts(noted.changes)) {
    const isBefore = () => read(element, 'textContent') === text
    if (!isFull() && !isBefore() && isSeen(element)) keep(element, () => isSeen(element) && isBefore())
  }
  for (const [control, value] of noted.values)
    if (!isFull() && contentOf(control) !== value) keep(control, () => control.isConnected && contentOf(control) === value)
  const touched = new Set(noted.changes.map(({ target }) => target))
  // Inner elements first: they explain what is different around them. What the pointer or the focus alone does is no effect.
  for (const [element, look] of [...after].reverse()) {
    const old = before.get(element)
    if (isFull() || !look || !old || old === look || old === SEEN || look === SEEN || parents.has(element) || !isOwn(element)) continue
    if (touched.has(element) || !call(element, 'matches', ':hover, :focus-within')) keep(element, () => lookOf(element) === old)
  }
  const focused = focusedElement()
  if (focused && focused !== noted.focused) keep(focused, () => focused.isConnected && focusedElement() === undefined, true)
}

/** True if something in the element shows that the page is working, and goes when it has ended. */
const isWorking = (element: Element): boolean =>
  call(element, 'getAnimations', { subtree: true }).some((animation: Animation) => isEndless(animation))

/** Whether a reader sees the element no more, and nothing new in its place. */
function goneTest(element: Element, then: ReadonlyMap<Element, string>): () => boolean {
  const chain = [element]
  for (let at = containerOf(element); at; at = containerOf(at)) chain.push(at)
  const [place, id] = [onPage(boxOf(element), element), attributeOf(element, 'id')]
  const isNewHere = (one: Element) => {
    if (then.get(one) || !isSeen(one)) return false
    // A message that is fixed to the window is at another place in another window.
    if (isLike(one, element) && attributeOf(one, 'id') === id) return true
    const { x, y, width, height } = onPage(boxOf(one), one)
    return x < place.x + place.width && place.x < x + width && y < place.y + place.height && place.y < y + height
  }
  return () => {
    if (isSeen(element)) return false
    const at = chain.findIndex((one, index) => index > 0 && isSeen(one))
    const [gone, around] = [chain[at - 1], chain[at]]
    if (!gone || !around) return true
    // If the page has drawn a part again, the element must be in the new one.
    const has = (one: Element) =>
      gone === element || !isLike(one, gone) || queryAll(one, nameOf(element)).some((own) => isLike(own, element) && isSeen(own))
    return ![...read(around, 'children')].some((one) => isNewHere(one) && has(one))
  }
}

const isLike = (one: Element, other: Element): boolean =>
  nameOf(one) === nameOf(other) && attributeOf(one, 'class') === attributeOf(other, 'class')

/**
 * Marks effects that a scroll or a new size of the window has undone, or begins to undo. Forgets those that have ended by themselves.
 * @param when `at once`: in the frame of that event, in which no timer of the page runs
 */
function review(when?: 'at once' | 'forget'): void {
  const { at, frame, isOver } = recall('tintypeDisturbance') ?? { at: Number.NEGATIVE_INFINITY, frame: 0, isOver: false }
  const isReaction = performance.now() - at <= LATE_MILLISECONDS && when !== 'forget'
  // A message that is fading already ends by itself.
  const begunSince = ({ startTime }: Animation) => startTime === null || Number(startTime) >= frame
  const moving = isReaction
    ? document.getAnimations().filter((animation) => runsOnTime(animation) && !isEndless(animation) && begunSince(animation))
    : []
  const targets = moving.map(({ effect }) => (effect as KeyframeEffect | null)?.target)
  const rest = (recall('tintypeEffects') ?? []).filter((effect) => {
    const isUndone = effect.isUndone()
    // The pointer leaves its element before the page learns of the scroll, and enters it again at the top.
    const isPointed = effect.action === 'hover'
    if (effect.isLost && effect.wasUndone && !isUndone && !isOver) {
      // What comes and goes by itself is not undone by anything.
      Object.assign(effect, { isLost: false, isCertain: false, wasUndone: false })
      return isPointed
    }
    const isEnding = isUndone || targets.some((target) => target?.contains(effect.element))
    if (!effect.isLost && isEnding) {
      if (!isReaction && !isPointed) return !isUndone || isOver
      Object.assign(effect, { isLost: true, isCertain: when === 'at once' })
    }
    effect.wasUndone ||= isUndone
    return true
  })
  if (recall('tintypeEffects')) remember('tintypeEffects', rest)
}

export const forgetEndedEffects: PageFunctions['forgetEndedEffects'] = () => review()

/** Watches for scrolls and new sizes of the window. */
function watchDisturbances(): void {
  const disturbance = remember('tintypeDisturbance', { at: Number.NEGATIVE_INFINITY, frame: 0, isOver: false })
  let [distance, last] = [0, scrollY]
  const begin = () => {
    disturbance.at = performance.now()
    disturbance.frame = Number(document.timeline.currentTime)
    reviewInFrame()
    for (const milliseconds of REVIEWS) setTimeout(review, milliseconds)
  }
  const onScroll = ({ target }: Event) => {
    const isPage = target === document
    if (!isPage && shareOfWindow(target as Element) < WHOLE) return
    if (distance > MAX_WINDOWS * innerHeight) return removeEventListener('scroll', onScroll, { capture: true })
    distance += isPage ? Math.abs(scrollY - last) : innerHeight
    last = scrollY
    // Handlers of the page come later.
    review()
    begin()
  }
  // Handlers of the page come first.
  const onResize = () => {
    begin()
    review('at once')
  }
  addEventListener('scroll', onScroll, { capture: true, passive: true })
  addEventListener('resize', onResize)
}

/** The browser calls observers of sizes after all handlers and frame callbacks of the frame. */
function reviewInFrame(): void {
  const observer = new ResizeObserver(() => {
    observer.disconnect()
    review('at once')
  })
  observer.observe(document.documentElement)
}

export const findLostEffects: PageFunctions['findLostEffects'] = () => {
  review()
  const disturbance = recall('tintypeDisturbance')
  const effects = recall('tintypeEffects') ?? []
  noteReturns(effects)
  const lost = effects.filter((effect) => effect.isLost && effect.isUndone())
  if (disturbance && !disturbance.isOver) {
    disturbance.isOver = true
    watchReturns(lost)
  }
  // A click on a control also gives it the focus.
  const remains = new Set(effects.filter((effect) => !effect.isFocus && !effect.isUndone()).map(({ action }) => action))
  const actions = [...new Set(lost.map(({ action }) => action))]
  return actions.map((action) => {
    const own = lost.filter((effect) => effect.action === action)
    const isCertain = own.some((effect) => effect.isCertain)
    const named = own.filter((effect) => effect.isCertain || !isCertain)
    const hasReturned = own.every((effect) => effect.hasReturned)
    return { action, isWhole: !remains.has(action), isCertain, hasReturned, elements: [...new Set(named.slice(0, MAX_NAMES).map(nameIn))] }
  })
}

function noteReturns(effects: readonly Effect[]): void {
  for (const effect of effects) effect.hasReturned ||= effect.isLost && !effect.isUndone()
}

/** Looks after each change of the page, because a message that comes back may end before the next look on a busy machine. */
function watchReturns(lost: readonly Effect[]): void {
  let checks = 0
  const observer = new MutationObserver(() => {
    noteReturns(lost)
    if (++checks >= MAX_RETURN_CHECKS || lost.every(({ hasReturned }) => hasReturned)) observer.disconnect()
  })
  if (lost.length > 0) for (const root of findRoots()) observer.observe(root, { subtree: true, childList: true, attributes: true })
}

const nameIn = ({ element, name }: Effect): string => (element.isConnected ? toSelector(element) : name)

/** A page may take the focus away when it is scrolled. */
export const restoreFocus: PageFunctions['restoreFocus'] = () => {
  const effects = (recall('tintypeEffects') ?? []).filter((effect) => effect.isLost && effect.isUndone())
  for (const { element } of effects) if (focusedElement() === undefined) call(element as HTMLElement, 'focus', { preventScroll: true })
}

/** The element under the pointer, and all that contain it. */
export const findPointed: PageFunctions['findPointed'] = (selector) => {
  const element = findFirstVisible(selector)
  return element ? [...holdersOf(element)] : []
}

export const placeOfPointed: PageFunctions['placeOfPointed'] = (selector) => {
  const element = findFirstVisible(selector)
  if (!element) return 'absent'
  const { y, height } = inWindow(boxOf(element), element)
  const middle = y + height / 2
  return middle < 0 || middle > innerHeight ? 'outside' : call(element, 'matches', ':hover') ? 'hovered' : 'inside'
}

const textOf = (nodes: NodeList): string =>
  [...nodes].map((node) => (node.nodeType === Node.TEXT_NODE ? (node.textContent ?? '') : '')).join('')

/** Each element of text that has changed, and its text before. */
function firstTexts(changes: readonly MutationRecord[]): Map<Element, string> {
  const texts = new Map<Element, string>()
  for (const { type, target, oldValue, removedNodes } of changes) {
    const element = type === 'characterData' ? target.parentElement : type === 'childList' ? (target as Element) : null
    const before = type === 'characterData' ? (oldValue ?? '') : textOf(removedNodes)
    if (element?.nodeType === Node.ELEMENT_NODE && before !== '' && !texts.has(element)) texts.set(element, before)
  }
  return texts
}

const findControls = (): Element[] => findMatches('input, textarea, select')

/** What a control holds. */
const contentOf = (control: Element): string => {
  const { value, checked } = control as HTMLInputElement
  return `${value} ${checked ?? ''}`
}

/** The element that has the focus, in the page's process; undefined if it is the page itself. */
function focusedElement(): Element | undefined {
  let at: Element | null | undefined = document.activeElement
  for (;;) {
    const inner: Element | null | undefined = at && (frameDocumentOf(at) ?? shadowRootOf(at))?.activeElement
    if (!inner) break
    at = inner
  }
  return at && at !== document.body && at !== document.documentElement && nameOf(at) !== 'body' ? at : undefined
}
