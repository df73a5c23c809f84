import type { EffectiveOptions } from '@tintype/crds/options/catalog'

/** Emulated media. Absent values are the browser's defaults. */
export interface MediaPlan {
  colorScheme: 'light' | 'dark'
  mediaType?: 'screen' | 'print'
  reducedMotion?: true
  forcedColors?: true
  moreContrast?: true
  /** Further CSS media features by name. */
  mediaFeatures?: Readonly<Record<string, string>>
  forceDark?: true
}

/** Builds the plan for media. */
export function buildMedia(options: EffectiveOptions): MediaPlan {
  const { darkMode, mediaType, reducedMotion, forcedColors, prefersContrast, mediaFeatures, darkModeForce } = options
  const features = { ...mediaFeatures, ...(prefersContrast === 'less' ? { 'prefers-contrast': 'less' } : {}) }
  return {
    colorScheme: darkMode ? 'dark' : 'light',
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(reducedMotion ? { reducedMotion: true } : {}),
    ...(forcedColors ? { forcedColors: true } : {}),
    ...(prefersContrast === 'more' ? { moreContrast: true } : {}),
    ...(Object.keys(features).length === 0 ? {} : { mediaFeatures: features }),
    ...(darkModeForce ? { forceDark: true } : {}),
  }
}
