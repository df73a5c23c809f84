import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import { isMoving, type StillFormat } from '@tintype/crds/options/output/formats'
import type { ScrollContainer } from '../page/functions.ts'

/** The file to create. */
export interface ImagePlan {
  /** A video is recorded as one jpeg after another. */
  format: StillFormat
  /** 0 to 100; absent for lossless formats. */
  quality?: number
  transparent: boolean
  /** Background of pages that set none; absent: white. */
  canvas?: Color
}

/** True if pages that set no background do not get a white one. */
export const hasOwnCanvas = ({ transparent, canvas }: ImagePlan): boolean => transparent || canvas !== undefined

/** Builds the plan for the file. */
export function buildImage({ format, imageQuality, omitBackground, backgroundColor }: EffectiveOptions): ImagePlan {
  return {
    format: isMoving(format) ? 'jpeg' : format,
    ...(format === 'png' || format === 'pdf' ? {} : { quality: imageQuality }),
    transparent: omitBackground,
    ...(backgroundColor === undefined ? {} : { canvas: parseColor(backgroundColor) }),
  }
}

/** A color: channels 0 to 255, alpha 0 to 1. */
export interface Color {
  r: number
  g: number
  b: number
  alpha: number
}

const NAMES: Readonly<Record<string, string>> = {
  transparent: '#00000000',
  aqua: '#00ffff',
  black: '#000000',
  blue: '#0000ff',
  fuchsia: '#ff00ff',
  gray: '#808080',
  green: '#008000',
  lime: '#00ff00',
  maroon: '#800000',
  navy: '#000080',
  olive: '#808000',
  orange: '#ffa500',
  purple: '#800080',
  red: '#ff0000',
  silver: '#c0c0c0',
  teal: '#008080',
  white: '#ffffff',
  yellow: '#ffff00',
}

/** Parses a color that the schema has validated. */
export function parseColor(text: string): Color {
  const known = NAMES[text] ?? text
  return known.startsWith('#') ? parseHex(known.slice(1)) : parseFunction(known)
}

function parseHex(digits: string): Color {
  const long = digits.length < 6 ? [...digits].map((digit) => digit + digit).join('') : digits
  const [r = 0, g = 0, b = 0, alpha = 255] = Array.from(long.matchAll(/../g), ([pair]) => Number.parseInt(pair, 16))
  return { r, g, b, alpha: alpha / 255 }
}

function parseFunction(text: string): Color {
  const [r = 0, g = 0, b = 0, alpha = 1] = Array.from(text.matchAll(/[0-9.]+/g), ([channel]) => Number(channel))
  return { r: Math.min(255, r), g: Math.min(255, g), b: Math.min(255, b), alpha: Math.min(1, alpha) }
}

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

/** A rectangle of the page in CSS pixels, from the page's top left corner. */
export interface Tile {
  x: number
  y: number
  width: number
  height: number
}

/** Measured page size, in CSS pixels. */
export interface PageSize {
  /** The whole page. */
  contentWidth: number
  contentHeight: number
  /** Where the window begins. */
  scrollX: number
  scrollY: number
  /** Where a window that is not scrolled begins. Above 0 on a page that is read from the right and is wider than the window. Absent: 0. */
  startX?: number
  /** How much smaller than usual the window shows the page: below 1 only on a phone, for a page that is wider than the window. Absent: 1. */
  scale?: number
}

/** The part of the page to capture. Absent, and without `selector`: the window or the full page. */
export interface RegionPlan {
  clip?: Tile
}

/** Builds the plan for the part of the page. */
export function buildRegion({ clipX, clipY, clipWidth, clipHeight }: EffectiveOptions): RegionPlan {
  if (clipX === undefined || clipY === undefined || clipWidth === undefined || clipHeight === undefined) return {}
  return { clip: { x: clipX, y: clipY, width: clipWidth, height: clipHeight } }
}
