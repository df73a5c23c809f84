import { z } from 'zod'
import { option, pictureOption } from '../rules/option-rules.ts'
import { color, httpUrls, selector, selectors } from './texts.ts'

const SCRIPT_LENGTH = 262144

/** Changes to the page before the picture is taken. */
export const preparingOptions = {
  styles: option(
    { links: 'own_markup', picture: 'yes' },
    z.string().max(SCRIPT_LENGTH).describe('CSS to add to the page, at most 262144 characters. Default: none.'),
  ),
  scripts: option(
    { links: 'no', picture: 'yes' },
    z
      .string()
      .max(SCRIPT_LENGTH)
      .describe(
        'JavaScript to run in the page after it has loaded, at most 262144 characters. If javascript_enabled is false, its timers never fire. Default: none.',
      ),
  ),
  click: pictureOption(
    selector('CSS selector of an element to click before the picture is taken. A new tab that it opens replaces the page. Default: none.'),
  ),
  initScript: option(
    { links: 'no', picture: 'yes' },
    z
      .string()
      .max(SCRIPT_LENGTH)
      .describe('JavaScript to run in every frame before the page’s own scripts, at most 262144 characters. Default: none.'),
  ),
  scriptsWaitUntil: pictureOption(
    z
      .array(z.enum(['load', 'domcontentloaded', 'networkidle']))
      .max(3)
      .describe(
        'States to wait for again after scripts, if scripts change the page or navigate: load, domcontentloaded, networkidle. Default: none.',
      ),
  ),
  scriptUrls: option(
    { links: 'no', picture: 'yes' },
    httpUrls(10, 'URLs of scripts to run in the page after it has loaded, at most 10. Default: none.'),
  ),
  styleUrls: option(
    { links: 'own_markup', picture: 'yes' },
    httpUrls(10, 'URLs of style sheets to add to the page, at most 10. Default: none.'),
  ),
  hideSelectors: pictureOption(selectors(100, 'CSS selectors of elements to remove from the layout, at most 100. Default: none.')),
  includeShadowDom: pictureOption(
    z
      .boolean()
      .describe('Applies hide_selectors inside shadow roots and frames too. All other options search them always. Default: false.'),
  ),
  maskSelectors: pictureOption(
    selectors(
      50,
      'CSS selectors of elements to cover with a box of one color, such as private or changing content, at most 50. Their content is in no file except HAR, MHTML and console messages. In a pdf, the elements are left blank instead. Default: none.',
    ),
  ),
  maskColor: pictureOption(color('CSS color of the boxes of mask_selectors. Default: #ff00ff.')),
  errorOnClickSelectorNotFound: option(
    { links: 'yes', picture: 'separate' },
    z.boolean().describe('Fails the capture if click matches no element; if false, the record has a warning. Default: true.'),
  ),
  clickAll: pictureOption(selector('CSS selector of elements to click one after the other, at most 50. Default: none.')),
  hover: pictureOption(selector('CSS selector of an element to hover over while the picture is taken. Default: none.')),
  errorOnHoverSelectorNotFound: option(
    { links: 'yes', picture: 'separate' },
    z.boolean().describe('Fails the capture if hover matches no element; if false, the record has a warning. Default: true.'),
  ),
  pressKey: pictureOption(
    z
      .string()
      .min(1)
      .max(32)
      .regex(/^[A-Za-z0-9+]+$/)
      .describe('Key to press after the page has loaded, such as Escape, Enter, PageDown or Control+A. Default: none.'),
  ),
  scrollIntoView: pictureOption(selector('CSS selector of an element to scroll to before the picture is taken. Default: none.')),
  scrollIntoViewAdjustTop: pictureOption(
    z.int().min(-10000).max(10000).describe('CSS pixels to scroll additionally after scroll_into_view, -10000 to 10000. Default: 0.'),
  ),
  scrollX: pictureOption(z.int().min(0).max(50000).describe('Horizontal scroll position in CSS pixels, 0 to 50000. Default: 0.')),
  scrollY: pictureOption(z.int().min(0).max(50000).describe('Vertical scroll position in CSS pixels, 0 to 50000. Default: 0.')),
  disableAnimations: pictureOption(
    z
      .boolean()
      .describe(
        'Stops animations and transitions of CSS, and animations of SVG elements, before the picture is taken: finite ones show their last frame, infinite ones their first. Animated image files go on. Default: false.',
      ),
  ),
  pauseVideos: pictureOption(z.boolean().describe('Stops audio, and stops videos at their first frame. Default: false.')),
}

export const preparingDefaults = {
  includeShadowDom: false,
  maskColor: '#ff00ff',
  errorOnClickSelectorNotFound: true,
  errorOnHoverSelectorNotFound: true,
  scrollIntoViewAdjustTop: 0,
  scrollX: 0,
  scrollY: 0,
  disableAnimations: false,
  pauseVideos: false,
}
