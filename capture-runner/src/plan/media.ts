import type { EffectiveOptions } from '@tintype/crds/options/catalogue'

/** The media that the page is laid out for. What is absent is as the browser has it. */
export interface MediaPlan {
  colorScheme: 'light' | 'dark'
  mediaType?: 'screen' | 'print'
  reducedMotion?: true
  forcedColors?: true
  moreContrast?: true
  /** CSS media features by name, beyond those above. */
  mediaFeatures?: Readonly<Record<string, string>>
  forceDark?: true
}

/** Works out the media. */
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
