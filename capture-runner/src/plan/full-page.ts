import type { EffectiveOptions } from '@tintype/crds/options/catalogue'
import type { FixedElements, FullPageAlgorithm, FullPageOverflow } from '@tintype/crds/options/page/full-page'

/** A slow pass down the page, CSS pixels. */
export interface ScrollPlan {
  stepPixels: number
  maxScrolls: number
  delayMilliseconds: number
}

/** How much of the page's height is wanted, and how it is taken. */
export interface FullPagePlan {
  fullPage: boolean
  /** CSS pixels at which a full-page picture ends. */
  maxHeight: number
  fullWidth: boolean
  algorithm: FullPageAlgorithm
  /** Device pixels. */
  sectionHeight: number
  fixedElements: FixedElements
  overflow: FullPageOverflow
  /** Absent: not asked for. */
  scroll?: ScrollPlan
  sweep: boolean
  /** Shows the page in a window as tall as itself before the picture is taken, so that nothing waits to be seen. */
  reveal: boolean
  eagerImages: boolean
  /** CSS pixels of the page, from its top, that the picture may show. */
  reach: number
  /** Elements as tall as the window stay so. */
  pinWindowHeights: boolean
  /** A selector, or `auto`. */
  scrollContainer?: string
}

/** CSS pixels that the page of a wanted element may have. */
const MAX_REACH = 50_000

/** Works out the height. What is for full pages only is off for others; a pdf is one, too. */
export function buildFullPage(options: EffectiveOptions): FullPagePlan {
  const { fullPage, fullPageScrollContainer, format, viewportHeight } = options
  const isWhole = fullPage || format === 'pdf'
  const scroll = isWhole ? buildScroll(options) : undefined
  const reach = reachOf(options, isWhole)
  const isSwept = reach > viewportHeight && options.selector === undefined && options.fullPageSweep && !scroll
  return {
    fullPage,
    maxHeight: options.fullPageMaxHeight,
    fullWidth: options.fullPageFullWidth,
    algorithm: options.fullPageAlgorithm,
    sectionHeight: options.fullPageSectionHeight,
    fixedElements: options.fullPageFixedElements,
    overflow: options.fullPageOverflow,
    ...(scroll ? { scroll } : {}),
    sweep: isSwept,
    reveal: fullPage && options.stabilityTimeout > 0 && format !== 'pdf' && (isSwept || scroll !== undefined),
    eagerImages: reach > viewportHeight && options.fullPageEagerImages,
    reach,
    pinWindowHeights: isWhole && options.fullPageFixViewportUnits,
    ...(isWhole && fullPageScrollContainer !== undefined ? { scrollContainer: fullPageScrollContainer } : {}),
  }
}

function reachOf(options: EffectiveOptions, isWhole: boolean): number {
  const { clipY, clipHeight, selector } = options
  if (isWhole) return options.fullPageMaxHeight
  if (selector !== undefined) return MAX_REACH
  return clipY === undefined || clipHeight === undefined ? options.viewportHeight : clipY + clipHeight
}

function buildScroll(options: EffectiveOptions): ScrollPlan | undefined {
  if (!options.fullPageScroll) return undefined
  const stepPixels = options.fullPageScrollBy ?? Math.max(100, options.viewportHeight)
  return {
    stepPixels,
    maxScrolls: options.fullPageMaxScrolls ?? Math.ceil(options.fullPageMaxHeight / stepPixels),
    delayMilliseconds: options.fullPageScrollDelay,
  }
}
