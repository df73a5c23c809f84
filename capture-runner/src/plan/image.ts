import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import { isMoving, type StillFormat } from '@tintype/crds/options/output/formats'

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
