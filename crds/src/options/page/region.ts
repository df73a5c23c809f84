import { choice, group, integer, off, on, PICTURE } from '../rules/declare.ts'
import { selector } from './texts.ts'

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
