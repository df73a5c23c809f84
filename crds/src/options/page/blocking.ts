import { z } from 'zod'
import { addressPatterns } from './texts.ts'

/** What a page asks for, by kind. */
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

/** What is done about a consent banner. */
export const BannerAction = z.enum(['opt_out', 'opt_in', 'hide'])
export type BannerAction = z.infer<typeof BannerAction>

/** What is kept out of the page (spec 2.2). */
export const blockingOptions = {
  blockAds: z.boolean().describe('Keeps advertisements out of the page. Default: false.'),
  blockTrackers: z.boolean().describe('Keeps counters and other trackers out of the page. Default: false.'),
  blockCookieBanners: z
    .boolean()
    .describe('Answers banners that ask for consent to cookies, and hides those that it cannot answer. Default: false.'),
  cookieBannerAction: BannerAction.describe(
    'What block_cookie_banners does: opt_out refuses, opt_in agrees, hide only hides the banner. Default: opt_out.',
  ),
  blockBannersByHeuristics: z.boolean().describe('Hides what looks like a banner or an overlay though no list knows it. Default: false.'),
  blockChats: z.boolean().describe('Keeps chat windows and other helpers out of the page. Default: false.'),
  blockSocials: z.boolean().describe('Keeps buttons and embedded posts of social networks out of the page. Default: false.'),
  blockAnnoyances: z
    .boolean()
    .describe('Keeps newsletter pop-ups, banners for apps, requests for notifications and the like out of the page. Default: false.'),
  blockRequests: addressPatterns(
    100,
    'Patterns of addresses that the page is refused, at most 100; * stands for anything, as in *://*.example.com/*. Default: none.',
  ),
  blockResources: z
    .array(ResourceKind)
    .max(13)
    .describe(
      'Kinds of requests that the page is refused: document (frames), stylesheet, image, media, font, script, texttrack, xhr, fetch, eventsource, websocket, manifest, other. The browser takes xhr and fetch for the same. Default: none.',
    ),
  allowRequests: addressPatterns(
    100,
    'Patterns of addresses that no other option may refuse, at most 100; * stands for anything. Default: none.',
  ),
  blockThirdParty: z.boolean().describe('Refuses every request to another site than the page’s own. Default: false.'),
  blockServiceWorkers: z
    .boolean()
    .describe('Keeps service workers from answering requests; always on where requests are judged. Default: false.'),
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
