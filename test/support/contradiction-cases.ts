import type { AllOptions } from '../../crds/src/capture-options/contradictions.ts'

/** Options and the codes of the contradictions that hold for them: one table for TypeScript's verdict and for the API server's. */
export const CONTRADICTION_CASES: readonly { options: AllOptions; contradicts: string[] }[] = [
  { options: {}, contradicts: [] },
  { options: { omitBackground: true }, contradicts: [] },
  { options: { omitBackground: true, format: 'png' }, contradicts: [] },
  { options: { omitBackground: false, format: 'jpeg' }, contradicts: [] },
  { options: { format: 'webp' }, contradicts: [] },
  { options: { omitBackground: true, format: 'jpeg' }, contradicts: ['omit_background_needs_png'] },
  { options: { omitBackground: true, format: 'webp' }, contradicts: ['omit_background_needs_png'] },
  { options: { viewportWidth: 7680, viewportHeight: 7680 }, contradicts: [] },
  { options: { viewportWidth: 4000, viewportHeight: 1000, deviceScaleFactor: 5 }, contradicts: [] },
  { options: { viewportWidth: 4001, viewportHeight: 1000, deviceScaleFactor: 5 }, contradicts: ['window_pixels'] },
  { options: { viewportWidth: 7680, viewportHeight: 7680, deviceScaleFactor: 2 }, contradicts: ['window_pixels'] },
  { options: { deviceScaleFactor: 5 }, contradicts: [] },
  { options: { viewportHeight: 7680, deviceScaleFactor: 2.5 }, contradicts: [] },
  { options: { viewportHeight: 7680, deviceScaleFactor: 3 }, contradicts: ['window_pixels'] },
  { options: { viewportWidth: 1, viewportHeight: 1, deviceScaleFactor: 0.1 }, contradicts: [] },
  {
    options: { viewportWidth: 7680, viewportHeight: 7680, deviceScaleFactor: 5, omitBackground: true, format: 'jpeg' },
    contradicts: ['omit_background_needs_png', 'window_pixels'],
  },
]
