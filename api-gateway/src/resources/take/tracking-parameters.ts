// Parameters that mail services, advertising and social networks add to links. They are neither signed nor read. docs/links.md lists them, and
// `npm run generate` copies them to the client.

/** Beginnings of names. */
export const TRACKING_PREFIXES: readonly string[] = ['utm_', 'mtm_', 'matomo_', 'pk_', 'piwik_', 'hsa_', 'sfmc_', 'trk_', 'bsft_', 'oly_']

/** Whole names, by who adds them. */
export const TRACKING_NAMES: Readonly<Record<string, readonly string[]>> = {
  Google: ['gclid', 'gclsrc', 'dclid', 'gbraid', 'wbraid', 'gad_source', 'gad_campaignid', 'srsltid', '_ga', '_gl'],
  Meta: ['fbclid', 'igshid', 'igsh', 'mibextid'],
  Microsoft: ['msclkid'],
  'X, LinkedIn, TikTok': ['twclid', 'li_fat_id', 'ttclid'],
  'Pinterest, Reddit, Snapchat': ['epik', 'rdt_cid', 'ScCid'],
  Yandex: ['yclid', 'ysclid', '_openstat'],
  Mailchimp: ['mc_cid', 'mc_eid', 'mc_tc'],
  HubSpot: ['_hsenc', '_hsmi', '__hssc', '__hstc', '__hsfp', 'hsCtaTracking'],
  'Klaviyo, Omnisend': ['_ke', '_kx', 'omnisendContactID', 'omnisendAttributionID'],
  'Kit, MailerLite': ['ck_subscriber_id', 'ml_subscriber', 'ml_subscriber_hash'],
  'Customer.io, Vero, Drip': ['cio_id', 'vero_id', 'vero_conv', '__s'],
  'Marketo, Eloqua, Adobe': ['mkt_tok', 'elqTrackId', 'elqTrack', 'elqaid', 'elqat', 'elqCampaignId', 'elq', 's_cid', 's_kwcid', 'ef_id'],
  'Dotdigital, Bronto, Brevo': ['dm_i', '_bta_tid', '_bta_c', 'sib_id'],
  'Affiliate and app links': ['irclickid', 'irgwc', 'wickedid', 'rb_clickid', '_branch_match_id', '_branch_referrer'],
}

const names: ReadonlySet<string> = new Set(Object.values(TRACKING_NAMES).flat())

/** True for a parameter that is neither signed nor read. */
export const isTracking = (name: string): boolean => names.has(name) || TRACKING_PREFIXES.some((prefix) => name.startsWith(prefix))
