import { z } from 'zod'
import { selector } from './waiting.ts'

export const FullPageAlgorithm = z.enum(['auto', 'native', 'stitch'])
export type FullPageAlgorithm = z.infer<typeof FullPageAlgorithm>

export const FixedElements = z.enum(['once', 'hide', 'keep'])
export type FixedElements = z.infer<typeof FixedElements>

export const FullPageOverflow = z.enum(['crop', 'scale', 'fail'])
export type FullPageOverflow = z.infer<typeof FullPageOverflow>

/** Captures beyond the window (spec 2.2). */
export const fullPageOptions = {
  fullPage: z.boolean().describe('Captures the whole scrollable page instead of the window. Default: false.'),
  fullPageMaxHeight: z
    .int()
    .min(1000)
    .max(50000)
    .describe('Height at which a full-page picture ends, in CSS pixels, 1000 to 50000. Default: 25000.'),
  fullPageScroll: z
    .boolean()
    .describe(
      'Scrolls smoothly down the page before a full-page picture, as a reader would, so that what appears on the way is there. Default: false.',
    ),
  fullPageScrollDelay: z
    .int()
    .min(0)
    .max(10000)
    .describe('Milliseconds of rest after each scroll of full_page_scroll, 0 to 10000. Default: 0.'),
  fullPageScrollBy: z
    .int()
    .min(100)
    .max(5000)
    .describe('CSS pixels of one scroll of full_page_scroll, 100 to 5000. Default: the height of the window.'),
  fullPageMaxScrolls: z
    .int()
    .min(1)
    .max(500)
    .describe(
      'Scrolls after which full_page_scroll ends, 1 to 500, for pages that grow for ever. Default: as many as full_page_max_height needs.',
    ),
  fullPageSweep: z
    .boolean()
    .describe(
      'Before a full-page picture, goes down the page and back in at most two seconds, so that what loads when it is seen does; full_page_scroll is the slow way. Default: true.',
    ),
  fullPageEagerImages: z.boolean().describe('Loads images and frames marked loading=lazy at once for a full-page picture. Default: true.'),
  fullPageAlgorithm: FullPageAlgorithm.describe(
    'How a full page is taken: native in one shot, stitch in sections that are joined, auto by its size: one shot up to 8192 device pixels of height. Beyond 16384, native is stitched too. Default: auto.',
  ),
  fullPageSectionHeight: z
    .int()
    .min(500)
    .max(16000)
    .describe(
      'Device pixels of a section’s height when full_page_algorithm is stitch or full_page_fixed_elements is keep, 500 to 16000. Default: 4096.',
    ),
  fullPageFixedElements: FixedElements.describe(
    'Fixed and sticky elements in a full page: once where they are when it is scrolled to its top, hide leaves them out, keep shows them in every section of a stitched page. Default: once.',
  ),
  fullPageFixViewportUnits: z
    .boolean()
    .describe(
      'Holds elements that are as tall as the window at that height while a full page is taken. Pages do not grow by being captured; this is for those whose scripts or expanded panels would. Default: false.',
    ),
  fullPageFullWidth: z.boolean().describe('Takes a full page in its whole width when it is wider than the window. Default: false.'),
  fullPageScrollContainer: selector(
    'CSS selector of an inner panel that scrolls instead of the page, or auto for the largest one: it is unfolded to its whole height for a full page. Default: none.',
  ),
  fullPageOverflow: FullPageOverflow.describe(
    'What becomes of a page that is longer than full_page_max_height or than its format allows: crop ends it there, scale makes the picture smaller, fail gives TOO_LARGE. Default: crop.',
  ),
}

export const fullPageDefaults = {
  fullPage: false,
  fullPageMaxHeight: 25000,
  fullPageScroll: false,
  fullPageScrollDelay: 0,
  fullPageSweep: true,
  fullPageEagerImages: true,
  fullPageAlgorithm: 'auto',
  fullPageSectionHeight: 4096,
  fullPageFixedElements: 'once',
  fullPageFixViewportUnits: false,
  fullPageFullWidth: false,
  fullPageOverflow: 'crop',
} as const
