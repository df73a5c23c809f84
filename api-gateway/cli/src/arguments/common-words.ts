/** What people type for an option, by the names of the options that they may mean. */
export const COMMON_WORDS: Readonly<Record<string, readonly string[]>> = {
  dark: ['dark-mode'],
  width: ['viewport-width'],
  height: ['viewport-height'],
  viewport: ['viewport-width', 'viewport-height'],
  size: ['viewport-width', 'viewport-height'],
  'window-size': ['viewport-width', 'viewport-height'],
  wait: ['delay', 'wait-for-selector'],
  sleep: ['delay'],
  scale: ['device-scale-factor'],
  retina: ['device-scale-factor'],
  mobile: ['device'],
  element: ['selector'],
  full: ['full-page'],
  out: ['output'],
  file: ['output'],
  save: ['output'],
}
