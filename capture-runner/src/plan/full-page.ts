import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import type { ScrollContainer } from '../page/functions.ts'

/** A slow scroll down the page, in CSS pixels. */
export interface ScrollPlan {
  stepPixels: number
  maxScrolls: number
  delayMilliseconds: number
}

/** The height to capture, and how. */
export interface FullPagePlan {
  fullPage: boolean
  /** Absent: no slow scroll. */
  scroll?: ScrollPlan
  sweep: boolean
  /** Shows the page in a window as tall as itself before the screenshot, so that content appears that waits to be visible. */
  reveal: boolean
  eagerImages: boolean
  /** How far down the screenshot may reach, in CSS pixels. */
  reach: number
  /** Undoes a lock that outlives its dialog. */
  unlocks: boolean
  /** Keeps the height of elements that are as tall as the window. */
  pinWindowHeights: boolean
  /** The part that scrolls instead of the page; absent: nothing is unfolded. */
  scrollContainer?: ScrollContainer
}

/** Maximum page height for the screenshot of an element, in CSS pixels. */
const MAX_REACH = 50_000

/** Builds the plan for the height. Options for full pages have no effect on others; a PDF counts as a full page. @param windowHeight CSS pixels */
export function buildFullPage(options: EffectiveOptions, windowHeight: number): FullPagePlan {
  const { fullPage, format } = options
  const isWhole = fullPage || format === 'pdf'
  const scroll = isWhole ? buildScroll(options, windowHeight) : undefined
  const reach = reachOf(options, isWhole, windowHeight)
  const isSwept = reach > windowHeight && options.selector === undefined && options.fullPageSweep && !scroll
  return {
    fullPage,
    ...(scroll ? { scroll } : {}),
    sweep: isSwept,
    reveal: fullPage && options.stabilityTimeout > 0 && format !== 'pdf' && (isSwept || scroll !== undefined),
    eagerImages: reach > windowHeight && options.fullPageEagerImages,
    reach,
    unlocks: reach > windowHeight && options.fullPageScrollContainer !== 'none',
    pinWindowHeights: isWhole && options.fullPageFixViewportUnits,
    ...(isWhole ? buildContainer(options) : {}),
  }
}

/** By default, only a page that does not scroll itself is changed. */
function buildContainer({ fullPageScrollContainer: wanted }: EffectiveOptions): Pick<FullPagePlan, 'scrollContainer'> {
  if (wanted === 'none') return {}
  if (wanted === undefined) return { scrollContainer: 'filling' }
  return { scrollContainer: wanted === 'auto' ? 'largest' : { selector: wanted } }
}

function reachOf(options: EffectiveOptions, isWhole: boolean, windowHeight: number): number {
  const { clipY, clipHeight, selector } = options
  if (isWhole) return options.fullPageMaxHeight
  if (selector !== undefined) return MAX_REACH
  return clipY === undefined || clipHeight === undefined ? windowHeight : clipY + clipHeight
}

function buildScroll(options: EffectiveOptions, windowHeight: number): ScrollPlan | undefined {
  if (!options.fullPageScroll) return undefined
  const stepPixels = options.fullPageScrollBy ?? Math.max(100, windowHeight)
  return {
    stepPixels,
    maxScrolls: options.fullPageMaxScrolls ?? Math.ceil(options.fullPageMaxHeight / stepPixels),
    delayMilliseconds: options.fullPageScrollDelay,
  }
}
