import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import type { ResourceKind } from '@tintype/crds/options/page/preparing'

/** Names of the filter engines in the image. */
export type EngineName = 'ads' | 'trackers' | 'banners' | 'chats' | 'socials' | 'annoyances'

/** Which requests to block. */
export interface RequestRules {
  engines: readonly EngineName[]
  refused: readonly string[]
  refusedKinds: readonly ResourceKind[]
  allowed: readonly string[]
  thirdParty: boolean
}

/** What to block and hide. Absent parts cost nothing, because no request is intercepted for them. */
export interface BlockingPlan {
  requestRules?: RequestRules
  /** Engines with hiding rules. */
  hiding?: readonly EngineName[]
  bannerAction?: EffectiveOptions['cookieBannerAction']
  guessBanners?: true
  bypassServiceWorkers?: true
}

/** Builds the plan for blocking. */
export function buildBlocking(options: EffectiveOptions): BlockingPlan {
  const hiding = findEngines(options)
  const rules = {
    // Accepting or rejecting a banner needs its script.
    engines: options.cookieBannerAction === 'hide' ? hiding : hiding.filter((name) => name !== 'banners'),
    refused: options.blockRequests ?? [],
    refusedKinds: options.blockResources ?? [],
    allowed: options.allowRequests ?? [],
    thirdParty: options.blockThirdParty,
  }
  const isBlocking = rules.engines.length > 0 || rules.refused.length > 0 || rules.refusedKinds.length > 0 || rules.thirdParty
  return {
    ...(isBlocking ? { requestRules: rules } : {}),
    ...(hiding.length > 0 ? { hiding } : {}),
    ...(options.blockCookieBanners ? { bannerAction: options.cookieBannerAction } : {}),
    ...(options.blockBannersByHeuristics ? { guessBanners: true } : {}),
    ...(options.blockServiceWorkers || isBlocking ? { bypassServiceWorkers: true } : {}),
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
