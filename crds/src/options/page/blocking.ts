import { z } from 'zod'
import { pictureOption } from '../rules/option-rules.ts'
import { urlPatterns } from './texts.ts'

/** Types of requests, as the browser reports them. */
export const ResourceKind = z.enum([
  'document',
  'stylesheet',
  'image',
  'media',
  'font',
  'script',
  'texttrack',
  'xhr',
  'fetch',
  'eventsource',
  'websocket',
  'manifest',
  'other',
])
export type ResourceKind = z.infer<typeof ResourceKind>

/** How to handle a consent banner. */
export const BannerAction = z.enum(['opt_out', 'opt_in', 'hide'])
export type BannerAction = z.infer<typeof BannerAction>

/** Content to block. */
export const blockingOptions = {
  blockAds: pictureOption(z.boolean().describe('Blocks advertisements. Default: false.')),
  blockTrackers: pictureOption(z.boolean().describe('Blocks analytics scripts and other trackers. Default: false.')),
  blockCookieBanners: pictureOption(
    z.boolean().describe('Responds to cookie consent banners, and hides the banners that it cannot respond to. Default: false.'),
  ),
  cookieBannerAction: pictureOption(
    BannerAction.describe(
      'What block_cookie_banners does: opt_out rejects cookies, opt_in accepts them, hide only hides the banner. Default: opt_out.',
    ),
  ),
  blockBannersByHeuristics: pictureOption(
    z.boolean().describe('Hides elements that look like banners or overlays, even if no filter list has them. Default: false.'),
  ),
  blockChats: pictureOption(z.boolean().describe('Blocks chat widgets and similar helpers. Default: false.')),
  blockSocials: pictureOption(z.boolean().describe('Blocks buttons and embedded posts of social networks. Default: false.')),
  blockAnnoyances: pictureOption(
    z.boolean().describe('Blocks newsletter pop-ups, app banners, notification requests and similar annoyances. Default: false.'),
  ),
  blockRequests: pictureOption(
    urlPatterns(100, 'URL patterns of requests to block, at most 100; * matches any text, as in *://*.example.com/*. Default: none.'),
  ),
  blockResources: pictureOption(
    z
      .array(ResourceKind)
      .max(13)
      .describe(
        'Types of requests to block: document (frames), stylesheet, image, media, font, script, texttrack, xhr, fetch, eventsource, websocket, manifest, other. The browser does not distinguish xhr from fetch. Default: none.',
      ),
  ),
  allowRequests: pictureOption(
    urlPatterns(100, 'URL patterns of requests that no other option blocks, at most 100; * matches any text. Default: none.'),
  ),
  blockThirdParty: pictureOption(z.boolean().describe('Blocks every request to a site other than the page’s own. Default: false.')),
  blockServiceWorkers: pictureOption(
    z.boolean().describe('Blocks service workers. Always on when another option filters requests. Default: false.'),
  ),
}

export const blockingDefaults = {
  blockAds: false,
  blockTrackers: false,
  blockCookieBanners: false,
  cookieBannerAction: 'opt_out' as BannerAction,
  blockBannersByHeuristics: false,
  blockChats: false,
  blockSocials: false,
  blockAnnoyances: false,
  blockThirdParty: false,
  blockServiceWorkers: false,
}
