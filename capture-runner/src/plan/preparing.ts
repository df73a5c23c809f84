import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import type { WaitState } from '@tintype/crds/options/page/waiting'

/** An element to find. */
export interface Target {
  selector: string
  /** Whether the capture fails without it. */
  isNeeded: boolean
}

/** Where to scroll the window. */
export type ScrollPlan = { selector: string; adjustTop: number } | { x: number; y: number }

/** How to prepare the page. Absent parts: the step is skipped. */
export interface PreparingPlan {
  initScript?: string
  styles?: string
  styleUrls?: readonly string[]
  scripts?: string
  scriptUrls?: readonly string[]
  /** States to wait for after scripts. */
  scriptsStates?: readonly WaitState[]
  hidden?: { selectors: readonly string[]; inShadow: boolean }
  masked?: { selectors: readonly string[]; color: string }
  click?: Target
  clickAll?: string
  hover?: Target
  pressKey?: string
  scroll?: ScrollPlan
  endAnimations?: true
  pauseVideos?: true
}

/** Builds the plan for preparing the page. */
export function buildPreparing(options: EffectiveOptions): PreparingPlan {
  const { initScript, styles, scripts, clickAll, pressKey, disableAnimations, pauseVideos } = options
  const scroll = buildScroll(options)
  return {
    ...(initScript ? { initScript } : {}),
    ...(styles ? { styles } : {}),
    ...(scripts ? { scripts } : {}),
    ...(hasAny(options.styleUrls) ? { styleUrls: options.styleUrls } : {}),
    ...(hasAny(options.scriptUrls) ? { scriptUrls: options.scriptUrls } : {}),
    ...(hasAny(options.scriptsWaitUntil) ? { scriptsStates: options.scriptsWaitUntil } : {}),
    ...(hasAny(options.hideSelectors) ? { hidden: { selectors: options.hideSelectors, inShadow: options.includeShadowDom } } : {}),
    ...(hasAny(options.maskSelectors) ? { masked: { selectors: options.maskSelectors, color: options.maskColor } } : {}),
    ...(options.click ? { click: { selector: options.click, isNeeded: options.errorOnClickSelectorNotFound } } : {}),
    ...(clickAll ? { clickAll } : {}),
    ...(options.hover ? { hover: { selector: options.hover, isNeeded: options.errorOnHoverSelectorNotFound } } : {}),
    ...(pressKey ? { pressKey } : {}),
    ...(scroll ? { scroll } : {}),
    ...(disableAnimations ? { endAnimations: true } : {}),
    ...(pauseVideos ? { pauseVideos: true } : {}),
  }
}

function buildScroll({ scrollIntoView, scrollIntoViewAdjustTop, scrollX, scrollY }: EffectiveOptions): ScrollPlan | undefined {
  if (scrollIntoView) return { selector: scrollIntoView, adjustTop: scrollIntoViewAdjustTop }
  return scrollX > 0 || scrollY > 0 ? { x: scrollX, y: scrollY } : undefined
}

/** Whether the client does something in the page, which may change or leave it. */
export const hasActions = ({ scripts, scriptUrls, click, clickAll, pressKey }: PreparingPlan): boolean =>
  [scripts, scriptUrls, click, clickAll, pressKey].some((action) => action !== undefined)

const hasAny = <T>(list: readonly T[] | undefined): list is readonly T[] => list !== undefined && list.length > 0
