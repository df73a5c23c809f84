import { z } from 'zod'
import { color, selector, selectors, webAddresses } from './texts.ts'

const SCRIPT_LENGTH = 262144

/** What is done to the page before the picture is taken (spec 2.2). */
export const preparingOptions = {
  styles: z.string().max(SCRIPT_LENGTH).describe('CSS put into the page, at most 262144 characters. Default: none.'),
  scripts: z
    .string()
    .max(SCRIPT_LENGTH)
    .describe(
      'JavaScript run in the page after it has loaded, at most 262144 characters; with javascript_enabled false no timer in it ever ends. Default: none.',
    ),
  click: selector('CSS selector of an element to click before the picture is taken. Default: none.'),
  initScript: z
    .string()
    .max(SCRIPT_LENGTH)
    .describe('JavaScript run before any script of the page, in every frame, at most 262144 characters. Default: none.'),
  scriptsWaitUntil: z
    .array(z.enum(['load', 'domcontentloaded', 'networkidle']))
    .max(3)
    .describe(
      'States to wait for once more after scripts, for pages that they change or leave: load, domcontentloaded, networkidle. Default: none.',
    ),
  scriptUrls: webAddresses(10, 'Scripts from other addresses, run in the page after it has loaded, at most 10. Default: none.'),
  styleUrls: webAddresses(10, 'Style sheets from other addresses, put into the page, at most 10. Default: none.'),
  hideSelectors: selectors(
    100,
    'CSS selectors of elements to leave out of the page, as if they were not there; at most 100. Default: none.',
  ),
  includeShadowDom: z.boolean().describe('Lets hide_selectors reach into open shadow roots. Default: false.'),
  maskSelectors: selectors(
    50,
    'CSS selectors of elements to cover with a box of one color, for what is private or changes; in a pdf they leave an empty place instead. At most 50. Default: none.',
  ),
  maskColor: color('Color of the boxes of mask_selectors, a CSS color. Default: #ff00ff.'),
  errorOnClickSelectorNotFound: z
    .boolean()
    .describe('Fails the capture when click matches nothing; else the picture is taken with a warning. Default: true.'),
  clickAll: selector('CSS selector of elements to click one after the other, at most 50 of them. Default: none.'),
  hover: selector('CSS selector of an element that the pointer rests on while the picture is taken. Default: none.'),
  errorOnHoverSelectorNotFound: z
    .boolean()
    .describe('Fails the capture when hover matches nothing; else the picture is taken with a warning. Default: true.'),
  pressKey: z
    .string()
    .min(1)
    .max(32)
    .regex(/^[A-Za-z0-9+]+$/)
    .describe('Key to press once the page has loaded, such as Escape, Enter, PageDown or Control+A. Default: none.'),
  scrollIntoView: selector('CSS selector of an element to scroll to before the picture is taken. Default: none.'),
  scrollIntoViewAdjustTop: z
    .int()
    .min(-10000)
    .max(10000)
    .describe('CSS pixels to scroll further after scroll_into_view, -10000 to 10000. Default: 0.'),
  scrollX: z.int().min(0).max(50000).describe('Place to scroll to from the left, in CSS pixels, 0 to 50000. Default: 0.'),
  scrollY: z.int().min(0).max(50000).describe('Place to scroll to from the top, in CSS pixels, 0 to 50000. Default: 0.'),
  disableAnimations: z
    .boolean()
    .describe(
      'Ends CSS animations and transitions before the picture is taken: what ends shows its end, what does not, its start. Default: false.',
    ),
  pauseVideos: z.boolean().describe('Stops videos and sounds at their first frame. Default: false.'),
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
