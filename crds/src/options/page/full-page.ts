import { z } from 'zod'
import { pictureOption } from '../rules/option-rules.ts'
import { selector } from './waiting.ts'

export const FullPageAlgorithm = z.enum(['auto', 'native', 'stitch'])
export type FullPageAlgorithm = z.infer<typeof FullPageAlgorithm>

export const FixedElements = z.enum(['once', 'hide', 'keep'])
export type FixedElements = z.infer<typeof FixedElements>

export const FullPageOverflow = z.enum(['crop', 'scale', 'fail'])
export type FullPageOverflow = z.infer<typeof FullPageOverflow>

/** Full-page captures. */
export const fullPageOptions = {
  fullPage: pictureOption(z.boolean().describe('Captures the whole scrollable page instead of the viewport. Default: false.')),
  fullPageMaxHeight: pictureOption(
    z.int().min(1000).max(50000).describe('Maximum height of a full-page picture in CSS pixels, 1000 to 50000. Default: 25000.'),
  ),
  fullPageScroll: pictureOption(
    z
      .boolean()
      .describe(
        'Scrolls smoothly down the page before a full-page picture, so that content that appears on scroll is captured. Default: false.',
      ),
  ),
  fullPageScrollDelay: pictureOption(
    z.int().min(0).max(10000).describe('Milliseconds to wait after each scroll of full_page_scroll, 0 to 10000. Default: 0.'),
  ),
  fullPageScrollBy: pictureOption(
    z.int().min(100).max(5000).describe('CSS pixels of each scroll of full_page_scroll, 100 to 5000. Default: the height of the viewport.'),
  ),
  fullPageMaxScrolls: pictureOption(
    z
      .int()
      .min(1)
      .max(500)
      .describe(
        'Maximum number of scrolls of full_page_scroll, 1 to 500, for pages with infinite scrolling. Default: as many as full_page_max_height needs.',
      ),
  ),
  fullPageSweep: pictureOption(
    z
      .boolean()
      .describe(
        'Scrolls quickly down the page and back before a full-page picture, in at most two seconds, so that lazy content loads. For a slow scroll, use full_page_scroll. Default: true.',
      ),
  ),
  fullPageEagerImages: pictureOption(
    z.boolean().describe('Loads images and frames with loading=lazy immediately for a full-page picture. Default: true.'),
  ),
  fullPageAlgorithm: pictureOption(
    FullPageAlgorithm.describe(
      'How to capture a full page: native takes one picture, stitch joins sections, auto uses native up to a height of 8192 device pixels. Above 16384, native stitches too. Default: auto.',
    ),
  ),
  fullPageSectionHeight: pictureOption(
    z
      .int()
      .min(500)
      .max(16000)
      .describe(
        'Height of a section in device pixels, 500 to 16000, for full_page_algorithm stitch and full_page_fixed_elements keep. Default: 4096.',
      ),
  ),
  fullPageFixedElements: pictureOption(
    FixedElements.describe(
      'How to show fixed and sticky elements in a full page: once shows them where they are at the top of the page, and bars at the bottom of the window at the end of the picture; hide hides them; keep shows them in every section of a stitched page. In the picture of an element or region that the window does not contain, once shows them where a full page does, and keep where they are in the window. Default: once.',
    ),
  ),
  fullPageFixViewportUnits: pictureOption(
    z
      .boolean()
      .describe(
        'Keeps the height of elements that are as tall as the viewport constant during a full-page capture. Needed only for pages that grow because of scripts or expanded panels. Default: false.',
      ),
  ),
  fullPageFullWidth: pictureOption(
    z.boolean().describe('Captures the whole width of a full page that is wider than the viewport. Default: false.'),
  ),
  fullPageScrollContainer: pictureOption(
    selector(
      'CSS selector of the part that scrolls instead of the page, auto for the largest one, or none; a full page shows all of it. none also leaves a locked page as it is, even if its dialog is hidden. Lists that draw only the rows in view, editors, dialogs and frames of other origins are left as they are. Default: the part that fills at least half of the viewport of a page that does not scroll itself, unless it is one of several panes.',
    ),
  ),
  fullPageOverflow: pictureOption(
    FullPageOverflow.describe(
      'How to handle a page that is longer than full_page_max_height or than its format allows: crop cuts it, scale shrinks the picture, fail returns TOO_LARGE. Default: crop.',
    ),
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
