import { choice, group, integer, off, on, PICTURE } from '../rules/declare.ts'
import { selector } from '../rules/texts.ts'

/** Full-page captures. */
export const fullPageGroup = group('Full pages', PICTURE, {
  fullPage: off('Captures the whole scrollable page instead of the viewport.'),
  fullPageMaxHeight: integer(1000, 50000, { default: 25000 })('Maximum height of a full-page picture in CSS pixels.'),
  fullPageScroll: off('Scrolls smoothly down the page before a full-page picture, so that content that appears on scroll is captured.'),
  fullPageScrollDelay: integer(0, 10000, { default: 0 })('Milliseconds to wait after each scroll of full_page_scroll.'),
  fullPageScrollBy: integer(100, 5000, { absent: 'the height of the viewport' })('CSS pixels of each scroll of full_page_scroll.'),
  fullPageMaxScrolls: integer(1, 500, { absent: 'as many as full_page_max_height needs' })(
    'Maximum number of scrolls of full_page_scroll, 1 to 500, for pages with infinite scrolling.',
  ),
  fullPageSweep: on(
    'Scrolls quickly down the page and back before a full-page picture, in at most two seconds, so that lazy content loads. For a slow scroll, use full_page_scroll.',
  ),
  fullPageEagerImages: on('Loads images and frames with loading=lazy immediately for a full-page picture.'),
  fullPageAlgorithm: choice(['auto', 'native', 'stitch'], { default: 'auto' })(
    'How to capture a full page: native takes one picture, stitch joins sections, auto uses native up to a height of 8192 device pixels. Above 16384, native stitches too.',
  ),
  fullPageSectionHeight: integer(500, 16000, { default: 4096 })(
    'Height of a section in device pixels, 500 to 16000, for full_page_algorithm stitch and full_page_fixed_elements keep.',
  ),
  fullPageFixedElements: choice(['once', 'hide', 'keep'], { default: 'once' })(
    'How to show fixed and sticky elements in a full page: once shows them where they are at the top of the page, and bars at the bottom of the window at the end of the picture; hide hides them; keep shows them in every section of a stitched page. In the picture of an element or region that the window does not contain, once shows them where a full page does, and keep where they are in the window.',
  ),
  fullPageFixViewportUnits: off(
    'Keeps the height of elements that are as tall as the viewport constant during a full-page capture. Needed only for pages that grow because of scripts or expanded panels.',
  ),
  fullPageFullWidth: off('Captures the whole width of a full page that is wider than the viewport.'),
  fullPageScrollContainer: selector({
    absent: 'the part that fills at least half of the viewport of a page that does not scroll itself, unless it is one of several panes',
    example: 'auto',
  })(
    'CSS selector of the part that scrolls instead of the page, auto for the largest one, or none; a full page shows all of it. none also leaves a locked page as it is, even if its dialog is hidden. Lists that draw only the rows in view, editors, dialogs and frames of other origins are left as they are.',
  ),
  fullPageOverflow: choice(['crop', 'scale', 'fail'], { default: 'crop' })(
    'How to handle a page that is longer than full_page_max_height or than its format allows: crop cuts it, scale shrinks the picture, fail returns TOO_LARGE.',
  ),
})

/** Captures of a part of the page. */
export const regionGroup = group('Part of the page', PICTURE, {
  selector: selector({ example: '#chart' })(
    'CSS selector of an element to capture instead of the viewport. The first visible match is captured, as far as boxes around it show it. A hidden match is waited for at most 5 seconds in a page that loads nothing.',
  ),
  selectorAlgorithm: choice(['element', 'clip'], { default: 'element' })(
    'How to capture selector: element scrolls to it first, clip cuts its box out of the page without scrolling.',
  ),
  selectorAll: off('Captures the area that contains all visible matches of selector.'),
  selectorPadding: integer(0, 1000, { default: 0 })('CSS pixels of the page around selector to capture too.'),
  selectorIsolate: off('Hides elements over or beside selector, such as fixed headers.'),
  selectorScrollIntoView: on('Scrolls to selector before the capture, so that lazy content loads.'),
  errorOnSelectorNotFound: off(
    'Fails the capture with SELECTOR_NOT_FOUND if selector matches no visible element; if false, captures the viewport with a warning.',
  ),
  clipX: integer(0, 50000)('Left edge of a region of the page to capture, in CSS pixels.'),
  clipY: integer(0, 50000)('Top edge of a region of the page to capture, in CSS pixels.'),
  clipWidth: integer(1, 20000)('Width of a region of the page to capture, in CSS pixels.'),
  clipHeight: integer(1, 50000)('Height of a region of the page to capture, in CSS pixels.'),
  captureBeyondViewport: on(
    'Captures content outside the viewport without resizing the viewport. If false, a region ends at the edge of the viewport, and a full page enlarges the viewport to at most 16384 pixels.',
  ),
})
