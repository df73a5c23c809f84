import type { ContextPlan } from './plan.ts'

// What a page is told about its browser. Headers, navigator and client hints must agree: sites compare them.

type Emulated = ContextPlan['emulated']

const majorOf = (version: string): string => version.split('.')[0] ?? version

/** As Chrome says it: the numbers after the major one are always 0. */
const chromeOf = (version: string): string => `Chrome/${majorOf(version)}.0.0.0`

/**
 * The user agent that a context is made with: the device's, with this browser's version where it is a Chrome; else the browser's own, without the
 * word Headless, which some six sites in a hundred refuse.
 */
export function userAgentOf(version: string, emulated?: Emulated): string {
  if (emulated) return emulated.userAgent.replace(/Chrome\/[\d.]+/, chromeOf(version))
  return `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) ${chromeOf(version)} Safari/537.36`
}

/** The same with client hints that agree with it; Playwright leaves the brand HeadlessChrome in place. Browsers other than Chrome send none. */
export function buildUserAgent(version: string, emulated?: Emulated) {
  const userAgent = userAgentOf(version, emulated)
  if (!userAgent.includes('Chrome/')) return { userAgent }
  const brands = (of: string, noise: string) => [
    { brand: 'Not:A-Brand', version: noise },
    { brand: 'Chromium', version: of },
  ]
  const hints = { brands: brands(majorOf(version), '8'), fullVersionList: brands(version, '8.0.0.0'), bitness: '64', wow64: false }
  return { userAgent, userAgentMetadata: { ...hints, ...platformOf(userAgent), mobile: emulated?.mobile ?? false } }
}

function platformOf(userAgent: string) {
  const [, platformVersion, model] = /Android ([\d.]+); ([^;)]+?)(?: Build|\))/.exec(userAgent) ?? []
  if (platformVersion !== undefined) return { platform: 'Android', platformVersion, architecture: '', model: model ?? '' }
  const platform = userAgent.includes('Windows') ? 'Windows' : userAgent.includes('Macintosh') ? 'macOS' : 'Linux'
  return { platform, platformVersion: '', architecture: 'x86', model: '' }
}
