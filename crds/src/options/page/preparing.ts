import { z } from 'zod'
import { choice, declare, flag, group, integer, off, PICTURE, text } from '../rules/declare.ts'
import { color, httpUrls, selector, selectors, urlPatterns } from '../rules/texts.ts'

const SCRIPT_LENGTH = 262144
const CODE = { links: 'no', policy: 'scripts' } as const

/** Changes to the page before the picture is taken. */
export const preparingGroup = group('Page preparation', PICTURE, {
  styles: text(SCRIPT_LENGTH, { links: 'own_markup', isLarge: true, example: 'header { display: none }' })('CSS to add to the page.'),
  scripts: text(SCRIPT_LENGTH, { ...CODE, isLarge: true, example: "document.querySelector('video')?.remove()" })(
    'JavaScript to run in the page after it has loaded. If javascript_enabled is false, its timers never fire.',
  ),
  click: selector({ example: '#accept' })(
    'CSS selector of an element to click before the picture is taken. A new tab that it opens replaces the page.',
  ),
  initScript: text(SCRIPT_LENGTH, { ...CODE, isLarge: true, example: 'window.isPreview = true' })(
    'JavaScript to run in every frame before the page’s own scripts.',
  ),
  scriptsWaitUntil: declare(z.array(z.enum(['load', 'domcontentloaded', 'networkidle'])).max(3), { example: ['networkidle'] })(
    'States to wait for again after scripts, if scripts change the page or navigate: load, domcontentloaded, networkidle.',
  ),
  scriptUrls: httpUrls(10, { ...CODE, example: ['https://example.com/prepare.js'] })(
    'URLs of scripts to run in the page after it has loaded.',
  ),
  styleUrls: httpUrls(10, { links: 'own_markup', example: ['https://example.com/print.css'] })('URLs of style sheets to add to the page.'),
  hideSelectors: selectors(100, { example: ['.newsletter', '#chat'] })('CSS selectors of elements to remove from the layout.'),
  includeShadowDom: off('Applies hide_selectors inside shadow roots and frames too. All other options search them always.'),
  maskSelectors: selectors(50, { example: ['.avatar'] })(
    'CSS selectors of elements to cover with a box of one color, such as private or changing content. Their content is in no file except HAR, MHTML and console messages. In a pdf, the elements are left blank instead.',
  ),
  maskColor: color({ default: '#ff00ff', example: '#808080' })('CSS color of the boxes of mask_selectors.'),
  errorOnClickSelectorNotFound: flag({ default: true, picture: 'separate' })(
    'Fails the capture if click matches no element; if false, the record has a warning.',
  ),
  clickAll: selector({ example: 'details > summary' })('CSS selector of elements to click one after the other, at most 50.'),
  hover: selector({ example: '#menu' })('CSS selector of an element to hover over while the picture is taken.'),
  errorOnHoverSelectorNotFound: flag({ default: true, picture: 'separate' })(
    'Fails the capture if hover matches no element; if false, the record has a warning.',
  ),
  pressKey: declare(
    z
      .string()
      .min(1)
      .max(32)
      .regex(/^[A-Za-z0-9+]+$/),
    { example: 'Escape' },
  )('Key to press after the page has loaded, such as Escape, Enter, PageDown or Control+A.'),
  scrollIntoView: selector({ example: '#prices' })('CSS selector of an element to scroll to before the picture is taken.'),
  scrollIntoViewAdjustTop: integer(-10000, 10000, { default: 0 })('CSS pixels to scroll additionally after scroll_into_view.'),
  scrollX: integer(0, 50000, { default: 0 })('Horizontal scroll position in CSS pixels.'),
  scrollY: integer(0, 50000, { default: 0 })('Vertical scroll position in CSS pixels.'),
  disableAnimations: off(
    'Stops animations and transitions of CSS, and animations of SVG elements, before the picture is taken: finite ones show their last frame, infinite ones their first. Animated image files go on.',
  ),
  pauseVideos: off('Stops audio, and stops videos at their first frame.'),
})

/** Types of requests, as the browser reports them. */
export const ResourceKind = z.enum([
  ...(['document', 'stylesheet', 'image', 'media', 'font', 'script', 'texttrack', 'xhr', 'fetch', 'eventsource', 'websocket'] as const),
  ...(['manifest', 'other'] as const),
])
export type ResourceKind = z.infer<typeof ResourceKind>

/** Content to block. */
export const blockingGroup = group('Blocking', PICTURE, {
  blockAds: off('Blocks advertisements.'),
  blockTrackers: off('Blocks analytics scripts and other trackers.'),
  blockCookieBanners: off('Responds to cookie consent banners, and hides the banners that it cannot respond to.'),
  cookieBannerAction: choice(['opt_out', 'opt_in', 'hide'], { default: 'opt_out' })(
    'What block_cookie_banners does: opt_out rejects cookies, opt_in accepts them, hide only hides the banner.',
  ),
  blockBannersByHeuristics: off('Hides elements that look like banners or overlays, even if no filter list has them.'),
  blockChats: off('Blocks chat widgets and similar helpers.'),
  blockSocials: off('Blocks buttons and embedded posts of social networks.'),
  blockAnnoyances: off('Blocks newsletter pop-ups, app banners, notification requests and similar annoyances.'),
  blockRequests: urlPatterns(100, { example: ['*://*/analytics/*'] })(
    'URL patterns of requests to block; * matches any text, as in *://*.example.com/*.',
  ),
  blockResources: declare(z.array(ResourceKind).max(13), { example: ['font', 'media'] })(
    'Types of requests to block: document (frames), stylesheet, image, media, font, script, texttrack, xhr, fetch, eventsource, websocket, manifest, other. The browser does not distinguish xhr from fetch.',
  ),
  allowRequests: urlPatterns(100, { example: ['*://cdn.example.com/*'] })(
    'URL patterns of requests that no other option blocks; * matches any text.',
  ),
  blockThirdParty: off('Blocks every request to a site other than the page’s own.'),
  blockServiceWorkers: off('Blocks service workers. Always on when another option filters requests.'),
})
