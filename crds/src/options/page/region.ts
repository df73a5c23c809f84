import { z } from 'zod'
import { pictureOption } from '../rules/option-rules.ts'
import { selector } from './waiting.ts'

export const SelectorAlgorithm = z.enum(['element', 'clip'])
export type SelectorAlgorithm = z.infer<typeof SelectorAlgorithm>

/** Captures of a part of the page. */
export const regionOptions = {
  selector: pictureOption(
    selector(
      'CSS selector of an element to capture instead of the viewport. The first visible match is captured, as far as boxes around it show it. A hidden match is waited for at most 5 seconds in a page that loads nothing. Default: none.',
    ),
  ),
  selectorAlgorithm: pictureOption(
    SelectorAlgorithm.describe(
      'How to capture selector: element scrolls to it first, clip cuts its box out of the page without scrolling. Default: element.',
    ),
  ),
  selectorAll: pictureOption(z.boolean().describe('Captures the area that contains all visible matches of selector. Default: false.')),
  selectorPadding: pictureOption(
    z.int().min(0).max(1000).describe('CSS pixels of the page around selector to capture too, 0 to 1000. Default: 0.'),
  ),
  selectorIsolate: pictureOption(z.boolean().describe('Hides elements over or beside selector, such as fixed headers. Default: false.')),
  selectorScrollIntoView: pictureOption(
    z.boolean().describe('Scrolls to selector before the capture, so that lazy content loads. Default: true.'),
  ),
  errorOnSelectorNotFound: pictureOption(
    z
      .boolean()
      .describe(
        'Fails the capture with SELECTOR_NOT_FOUND if selector matches no visible element; if false, captures the viewport with a warning. Default: false.',
      ),
  ),
  clipX: pictureOption(
    z.int().min(0).max(50000).describe('Left edge of a region of the page to capture, in CSS pixels, 0 to 50000. Default: none.'),
  ),
  clipY: pictureOption(
    z.int().min(0).max(50000).describe('Top edge of a region of the page to capture, in CSS pixels, 0 to 50000. Default: none.'),
  ),
  clipWidth: pictureOption(
    z.int().min(1).max(20000).describe('Width of a region of the page to capture, in CSS pixels, 1 to 20000. Default: none.'),
  ),
  clipHeight: pictureOption(
    z.int().min(1).max(50000).describe('Height of a region of the page to capture, in CSS pixels, 1 to 50000. Default: none.'),
  ),
  captureBeyondViewport: pictureOption(
    z
      .boolean()
      .describe(
        'Captures content outside the viewport without resizing the viewport. If false, a region ends at the edge of the viewport, and a full page enlarges the viewport to at most 16384 pixels. Default: true.',
      ),
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
