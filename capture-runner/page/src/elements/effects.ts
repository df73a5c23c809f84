import type { PageFunctions } from '../../../src/page/functions.ts'
import { findFirstVisible, inWindow, isVisible } from '../shared/boxes.ts'
import { attributeOf, boxOf, call, nameOf, queryAll, read } from '../shared/dom.ts'
import { type Effect, recall, remember } from '../shared/state.ts'
import { findMatches, findRoots, frameDocumentOf, holdersOf, shadowRootOf } from '../shared/tree.ts'
import { toSelector } from '../waiting/element-names.ts'
import { isEndless, runsOnTime } from '../waiting/endless.ts'

// What an action of the client changes in the page. It is undone if the page returns to what it was before: the same attribute, text or value, without an
// added element, or without the focus.

/** Changes that follow a scroll within this time are caused by it. */
const SCROLL_MILLISECONDS = 50
/** Maximum number of effects of an action. */
const MAX_EFFECTS = 100
/** Number of scrolls after which effects are reviewed, and how long after. */
const MAX_SCROLLS = 3
const REACTION_MILLISECONDS = 30
/** The same after a resize. */
const LATE_MILLISECONDS = 300
/** Attributes that mean the same if they are empty. */
const MAY_BE_EMPTY = new Set(['class', 'style'])
const UNSEEN = new Set(['script', 'style', 'link', 'meta', 'template'])

export const noteEffects: PageFunctions['noteEffects'] = () => {
  const changes: MutationRecord[] = []
  let [scrolledAt, changedAt] = [Number.NEGATIVE_INFINITY, performance.now()]
  const note = (records: readonly MutationRecord[]) => {
    if (performance.now() - scrolledAt < SCROLL_MILLISECONDS) return
    changedAt = performance.now()
    changes.push(...records)
  }
  const observer = new MutationObserver(note)
  const kinds = { subtree: true, childList: true, attributeOldValue: true, characterDataOldValue: true }
  for (const root of findRoots()) observer.observe(root, kinds)
  const onScroll = () => {
    scrolledAt = performance.now()
  }
  addEventListener('scroll', onScroll, { capture: true, passive: true })
  const values = new Map(findControls().map((control) => [control, contentOf(control)]))
  const focused = focusedElement()
  remember('tintypeAction', {
    restedFor: () => performance.now() - changedAt,
    end: () => {
      note(observer.takeRecords())
      observer.disconnect()
      removeEventListener('scroll', onScroll, { capture: true })
      return { changes, values, focused }
    },
  })
}

export const restOfAction: PageFunctions['restOfAction'] = () =>
  document.getAnimations().some((animation) => runsOnTime(animation) && !isEndless(animation))
    ? 0
    : (recall('tintypeAction')?.restedFor() ?? Number.POSITIVE_INFINITY)

export const keepEffects: PageFunctions['keepEffects'] = (action) => {
  const noted = recall('tintypeAction')?.end()
  if (!noted) return
  if (!recall('tintypeEffects')) watchDisturbances()
  const effects = recall('tintypeEffects') ?? remember('tintypeEffects', [])
  const most = effects.length + MAX_EFFECTS
  const keep = (element: Element, isUndone: () => boolean, isFocus = false) => {
    if (effects.length < most) effects.push({ action, element, name: toSelector(element), isUndone, isFocus, isLost: false, isLate: false })
  }
  for (const { element, name, before } of firstAttributes(noted.changes)) {
    const isBefore = () => attributeOf(element, name) === before || (MAY_BE_EMPTY.has(name) && !attributeOf(element, name) && !before)
    if (!isBefore()) keep(element, () => element.isConnected && isBefore())
  }
  for (const [element, before] of firstTexts(noted.changes)) {
    const isBefore = () => read(element, 'textContent') === before
    if (!isBefore()) keep(element, () => element.isConnected && isBefore())
  }
  for (const element of noted.changes.flatMap(({ addedNodes }) => [...addedNodes]).filter(isSeen)) {
    if (!element.isConnected || !isVisible(element)) continue
    const [root, selector] = [call(element, 'getRootNode') as Document | ShadowRoot, toSelector(element)]
    // The page may have drawn it again since.
    keep(element, () => !element.isConnected && queryAll(root, selector).length === 0)
  }
  for (const element of noted.changes.flatMap(({ removedNodes }) => [...removedNodes]).filter(isSeen))
    if (!element.isConnected) keep(element, () => element.isConnected)
  for (const [control, before] of noted.values)
    if (contentOf(control) !== before) keep(control, () => control.isConnected && contentOf(control) === before)
  const focused = focusedElement()
  if (focused && focused !== noted.focused) keep(focused, () => focused.isConnected && focusedElement() === undefined, true)
}

/** Marks effects that are undone as lost, or forgets them. */
function review(isLost: boolean, isLate = false): void {
  const effects = recall('tintypeEffects') ?? []
  for (const effect of effects) if (isLost && !effect.isLost && effect.isUndone()) Object.assign(effect, { isLost, isLate })
  const rest = effects.filter((effect) => effect.isLost || !effect.isUndone())
  remember('tintypeEffects', rest)
}

export const forgetEndedEffects: PageFunctions['forgetEndedEffects'] = () => review(false)

/** Marks effects that a scroll or a new size of the window undoes. */
function watchDisturbances(): void {
  let scrolls = 0
  const onScroll = () => {
    // What survives the first scrolls is not undone by others.
    if (++scrolls > MAX_SCROLLS) return removeEventListener('scroll', onScroll, { capture: true })
    review(false)
    setTimeout(review, REACTION_MILLISECONDS, true)
  }
  // Handlers of the page come first, and often await the last of several events.
  const onResize = () => {
    review(true)
    setTimeout(review, LATE_MILLISECONDS, true, true)
  }
  addEventListener('scroll', onScroll, { capture: true, passive: true })
  addEventListener('resize', onResize)
}

export const findLostEffects: PageFunctions['findLostEffects'] = () => {
  const effects = recall('tintypeEffects') ?? []
  const lost = effects.filter((effect) => effect.isLost && effect.isUndone())
  // A click on a control also gives it the focus.
  const remains = new Set(effects.filter((effect) => !lost.includes(effect) && !effect.isFocus).map(({ action }) => action))
  // A part that ends later, such as a message, may have ended by itself.
  const certain = lost.filter(({ action, isLate }) => !isLate || !remains.has(action))
  const actions = [...new Set(certain.map(({ action }) => action))]
  return actions.map((action) => ({
    action,
    isWhole: !remains.has(action),
    elements: [...new Set(certain.filter((effect) => effect.action === action).map(nameIn))],
  }))
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

interface FirstAttribute {
  element: Element
  name: string
  before: string | null
}

/** Each attribute that has changed, and its value before. */
function firstAttributes(changes: readonly MutationRecord[]): FirstAttribute[] {
  const seen = new Map<Node, Set<string>>()
  return changes.flatMap(({ type, target, attributeName: name, oldValue }) => {
    if (type !== 'attributes' || name === null || seen.get(target)?.has(name)) return []
    seen.set(target, (seen.get(target) ?? new Set()).add(name))
    return [{ element: target as Element, name, before: oldValue }]
  })
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

const isSeen = (node: Node): node is Element => node.nodeType === Node.ELEMENT_NODE && !UNSEEN.has(nameOf(node as Element))

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
