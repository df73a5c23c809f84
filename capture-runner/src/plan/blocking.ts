import type { EffectiveOptions } from '@tintype/crds/options/catalogue'
import type { BannerAction, ResourceKind } from '@tintype/crds/options/page/blocking'

/** Names of the engines that the image carries. */
export type EngineName = 'ads' | 'trackers' | 'banners' | 'chats' | 'socials' | 'annoyances'

/** Which requests of the page are refused. */
export interface RequestRules {
  engines: readonly EngineName[]
  refused: readonly string[]
  refusedKinds: readonly ResourceKind[]
  allowed: readonly string[]
  thirdParty: boolean
}

/** What is kept away from the page. Absent: nothing, and then nothing is held or looked at either. */
export interface BlockingPlan {
  requestRules?: RequestRules
  /** Engines that know what to hide. */
  hiding?: readonly EngineName[]
  bannerAction?: BannerAction
  guessBanners?: true
  bypassServiceWorkers?: true
}

/** Works out what is kept away from the page. */
export function buildBlocking(options: EffectiveOptions): BlockingPlan {
  const hiding = findEngines(options)
  const rules = {
    // A banner that is to be answered needs its script.
    engines: options.cookieBannerAction === 'hide' ? hiding : hiding.filter((name) => name !== 'banners'),
    refused: options.blockRequests ?? [],
    refusedKinds: options.blockResources ?? [],
    allowed: options.allowRequests ?? [],
    thirdParty: options.blockThirdParty,
  }
  const isJudging = rules.engines.length > 0 || rules.refused.length > 0 || rules.refusedKinds.length > 0 || rules.thirdParty
  return {
    ...(isJudging ? { requestRules: rules } : {}),
    ...(hiding.length > 0 ? { hiding } : {}),
    ...(options.blockCookieBanners ? { bannerAction: options.cookieBannerAction } : {}),
    ...(options.blockBannersByHeuristics ? { guessBanners: true } : {}),
    ...(options.blockServiceWorkers || isJudging ? { bypassServiceWorkers: true } : {}),
  }
}

function findEngines(options: EffectiveOptions): EngineName[] {
  const { blockAds, blockTrackers, blockCookieBanners, blockChats, blockSocials, blockAnnoyances } = options
  const wanted: Record<EngineName, boolean> = {
    ads: blockAds,
    trackers: blockTrackers,
    banners: blockCookieBanners,
    chats: blockChats,
    socials: blockSocials,
    annoyances: blockAnnoyances,
  }
  return Object.entries(wanted).flatMap(([name, isWanted]) => (isWanted ? [name as EngineName] : []))
}
