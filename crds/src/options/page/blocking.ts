import { z } from 'zod'
import { choice, declare, group, off, PICTURE } from '../rules/declare.ts'
import { urlPatterns } from './texts.ts'

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
