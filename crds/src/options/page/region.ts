import { z } from 'zod'
import { selector } from './waiting.ts'

export const SelectorAlgorithm = z.enum(['element', 'clip'])
export type SelectorAlgorithm = z.infer<typeof SelectorAlgorithm>

/** A part of the page instead of the window. */
export const regionOptions = {
  selector: selector('CSS selector of an element to capture instead of the window: the first visible match. Default: none.'),
  selectorAlgorithm: SelectorAlgorithm.describe(
    'How selector is captured: element scrolls to it first, clip cuts its box out of the page as it stands. Default: element.',
  ),
  selectorAll: z.boolean().describe('Captures the area that holds all visible matches of selector. Default: false.'),
  selectorPadding: z
    .int()
    .min(0)
    .max(1000)
    .describe('CSS pixels of the page around selector that are captured too, 0 to 1000. Default: 0.'),
  selectorIsolate: z.boolean().describe('Hides what lies over or beside selector, such as fixed headers. Default: false.'),
  selectorScrollIntoView: z
    .boolean()
    .describe('Scrolls to selector before it is captured, so that what loads when it is seen does. Default: true.'),
  errorOnSelectorNotFound: z
    .boolean()
    .describe(
      'Fails with SELECTOR_NOT_FOUND when nothing visible matches selector; otherwise the window is captured, with a warning. Default: false.',
    ),
  clipX: z.int().min(0).max(50000).describe('Left edge of a region of the page to capture, in CSS pixels, 0 to 50000. Default: none.'),
  clipY: z.int().min(0).max(50000).describe('Top edge of a region of the page to capture, in CSS pixels, 0 to 50000. Default: none.'),
  clipWidth: z.int().min(1).max(20000).describe('Width of a region of the page to capture, in CSS pixels, 1 to 20000. Default: none.'),
  clipHeight: z.int().min(1).max(50000).describe('Height of a region of the page to capture, in CSS pixels, 1 to 50000. Default: none.'),
  captureBeyondViewport: z
    .boolean()
    .describe(
      'Captures what lies outside of the window without changing it. Without it, a region ends at the window’s edge, and for a full page the window becomes as tall as the page, at most 16384 pixels. Default: true.',
    ),
}

export const regionDefaults = {
  selectorAlgorithm: 'element',
  selectorAll: false,
  selectorPadding: 0,
  selectorIsolate: false,
  selectorScrollIntoView: true,
  errorOnSelectorNotFound: false,
  captureBeyondViewport: true,
} as const
