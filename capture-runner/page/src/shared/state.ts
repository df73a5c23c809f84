// What a page function leaves for a later one, as properties of its world's global object. The page's scripts cannot see them.

import type { Root } from './dom.ts'

/** What the functions remember, by name. */
interface PageState {
  tintypeClicked: WeakSet<Element>
  tintypeChanges: { count: number; observer: MutationObserver }
  tintypeMotion: {
    /** Trees that are observed. */
    roots: Set<Root>
    growth: Growth
    changes: number
    hasGrown: boolean
    note: (records: readonly MutationRecord[]) => void
    observer: MutationObserver
  }
  /** The action of the client that is running: since when nothing has changed, and what to compare with. */
  tintypeAction: {
    restedFor: () => number
    end: () => {
      changes: readonly MutationRecord[]
      /** What a scroll has changed meanwhile. */
      scrolled: ReadonlySet<Node>
      looks: ReadonlyMap<Element, string>
      values: ReadonlyMap<Element, string>
      focused: Element | undefined
    }
  }
  /** When the page was last scrolled or got another size, on its clock and by the time of the frame, and whether that is over. */
  tintypeDisturbance: { at: number; frame: number; isOver: boolean }
  tintypeEffects: Effect[]
  tintypeHeights: PinnedHeights
  /** Elements whose inline style has a property that can move what they show, and how far it is moved. */
  tintypeShifts: Record<'transform' | 'background' | 'top' | 'margin', Map<Element, Shift[]>>
  /** The unfolded part, and its greatest height. */
  tintypeUnfolded: { panel: HTMLElement; height: number }
  /** Unfolded elements that a reader could scroll sideways before. */
  tintypeSideways: WeakSet<Element>
  tintypeSectionLinks: Map<Element, Record<string, string | null>>
  tintypeScroller: Element
  tintypeMasks: HTMLElement[]
  /** Closed roots by their hosts, as far as the runner has found them. */
  tintypeClosedRoots: Map<Element, ShadowRoot>
  tintypeHidden: WeakSet<Node>
  /** What fields for passwords had before it was taken out. */
  tintypePasswords: Map<HTMLInputElement, Pick<HTMLInputElement, 'value' | 'defaultValue'>>
  /** Elements that were in sight before a mask hid them. */
  tintypeSeen: WeakSet<Node>
  pdfOutcome: Promise<unknown>
}

/** Something that an action of the client has changed. */
export interface Effect {
  action: string
  element: Element
  /** CSS selector of the element when it was changed. */
  name: string
  isUndone: () => boolean
  /** It is the focus of the element. */
  isFocus: boolean
  /** Undone when the page was scrolled or laid out in another window, or soon after. */
  isLost: boolean
  /** It cannot have ended by itself. */
  isCertain: boolean
  wasUndone: boolean
  /** It was there again at some time after it was lost. */
  hasReturned: boolean
}

/** How far an element, or each of its backgrounds, is moved down at a scroll position: the numbers in the value of a property. */
export interface Shift {
  top: number
  values: readonly number[]
}

/** An element with a height of its own. */
export type Sized = HTMLElement | SVGSVGElement

/** Heights of the page's elements before it was laid out in a tall window. */
export interface PinnedHeights {
  heights: Map<Sized, number>
  pinned: Map<Sized, number>
  windowHeight: number
  /** Height of the page, and where its content ends, when it was prepared. */
  pageHeight: number
  contentEnd: number
  /** Number of elements then. */
  count: number
  /** What scripts had set as heights of the page itself. */
  roots: { style: CSSStyleDeclaration; property: string; value: string; priority: string }[]
  /** @param isGrowing the element may become taller */
  pin: (element: Sized, height: number, isGrowing?: boolean) => void
}

const world = globalThis as unknown as Partial<PageState>

/** The remembered value; undefined in a document in which none was set. */
export const recall = <Name extends keyof PageState>(name: Name): PageState[Name] | undefined =>
  Object.hasOwn(world, name) ? world[name] : undefined

export function remember<Name extends keyof PageState>(name: Name, value: PageState[Name]): PageState[Name] {
  Object.defineProperty(world, name, { value, configurable: true, writable: true })
  return value
}

/** Notices when a page shows more than before. */
interface Growth {
  /** Elements that have changed or were animated. */
  changed: WeakSet<Node>
  /** Greatest lengths of texts. */
  lengths: WeakMap<Node, number>
  /** Letters that an element has gained, and the most so far. */
  gains: WeakMap<Node, { now: number; most: number }>
}

export const createGrowth = (): Growth => ({ changed: new WeakSet(), lengths: new WeakMap(), gains: new WeakMap() })

/** True for an element's first change. A slideshow changes the same elements again and again. */
export function isFirstChange({ changed }: Growth, target: Node): boolean {
  if (changed.has(target)) return false
  changed.add(target)
  return true
}

/** True if elements or text were added. A clock replaces its text by one of the same length. */
export function hasGrownBy(growth: Growth, { type, target, addedNodes, removedNodes }: MutationRecord): boolean {
  if (type === 'attributes') return isFirstChange(growth, target)
  if (type === 'characterData') return isLonger(growth, target, target.nodeValue?.length ?? 0)
  const letters = countLetters(addedNodes)
  const hasGained = gains(growth, target, letters - countLetters(removedNodes))
  return hasGained || countElements(addedNodes) > countElements(removedNodes) || isLonger(growth, target, letters)
}

/** Notes letters that an element gains or loses. Returns true if it has never had as many. */
function gains({ gains }: Growth, node: Node, letters: number): boolean {
  const before = gains.get(node) ?? { now: 0, most: 0 }
  const now = before.now + letters
  gains.set(node, { now, most: Math.max(before.most, now) })
  return now > before.most
}

function isLonger({ lengths }: Growth, node: Node, length: number): boolean {
  if (length <= (lengths.get(node) ?? 0)) return false
  lengths.set(node, length)
  return true
}

const countElements = (nodes: NodeList): number => [...nodes].filter(({ nodeType }) => nodeType === 1).length

const countLetters = (nodes: NodeList): number =>
  [...nodes].reduce((sum, { nodeType, nodeValue }) => sum + (nodeType === 3 ? (nodeValue?.length ?? 0) : 0), 0)
