import type { ContextPlan } from '../plan/context.ts'

// User agent and client hints. Headers, navigator and client hints must be consistent, because sites compare them.

type Emulated = ContextPlan['emulated']

const majorOf = (version: string): string => version.split('.')[0] ?? version

/** Like Chrome's reduced user agent: all numbers after the major version are 0. */
const chromeOf = (version: string): string => `Chrome/${majorOf(version)}.0.0.0`

/**
 * The user agent of a context. For a device, its user agent with this browser's version if it is a Chrome. Otherwise the browser's own without the
 * word Headless, for which about six in a hundred sites refuse access.
 */
export function userAgentOf(version: string, emulated?: Emulated): string {
  if (emulated?.userAgent !== undefined) {
    return emulated.isExact ? emulated.userAgent : emulated.userAgent.replace(/Chrome\/[\d.]+/, chromeOf(version))
  }
  return `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) ${chromeOf(version)} Safari/537.36`
}

/**
 * The same with matching client hints and platform, because Playwright leaves the brand HeadlessChrome in place. Browsers other than Chrome send no
 * hints.
 */
export function buildUserAgent(actualVersion: string, emulated?: Emulated) {
  const userAgent = userAgentOf(actualVersion, emulated)
  const [, claimed] = /Chrome\/([\d.]+)/.exec(userAgent) ?? []
  const platform = emulated?.platform ?? navigatorPlatformOf(userAgent)
  if (claimed === undefined) return { userAgent, platform }
  const version = majorOf(claimed) === majorOf(actualVersion) ? actualVersion : claimed
  const brands = (of: string, noise: string) => [
    { brand: 'Not:A-Brand', version: noise },
    { brand: 'Chromium', version: of },
  ]
  const hints = { brands: brands(majorOf(version), '8'), fullVersionList: brands(version, '8.0.0.0'), bitness: '64', wow64: false }
  const { platform: hinted, ...system } = platformOf(userAgent)
  const hintedPlatform = emulated?.platform === undefined ? hinted : hintOf(emulated.platform)
  const userAgentMetadata = { ...hints, ...system, platform: hintedPlatform, mobile: emulated?.mobile ?? false }
  return { userAgent, platform, userAgentMetadata }
}

/** The value of `navigator.platform` for a user agent. */
function navigatorPlatformOf(userAgent: string): string {
  if (/iPhone|iPad/.test(userAgent)) return userAgent.includes('iPad') ? 'iPad' : 'iPhone'
  if (userAgent.includes('Android')) return 'Linux armv81'
  if (userAgent.includes('Windows')) return 'Win32'
  return userAgent.includes('Macintosh') ? 'MacIntel' : 'Linux x86_64'
}

/** The platform name in client hints for a value of `navigator.platform`. */
function hintOf(platform: string): string {
  if (/^Win/.test(platform)) return 'Windows'
  if (/^Mac/.test(platform)) return 'macOS'
  if (/^(iPhone|iPad)/.test(platform)) return 'iOS'
  return /^Linux arm/.test(platform) ? 'Android' : /^Linux/.test(platform) ? 'Linux' : platform
}

function platformOf(userAgent: string) {
  const [, platformVersion, model] = /Android ([\d.]+); ([^;)]+?)(?: Build|\))/.exec(userAgent) ?? []
  if (platformVersion !== undefined) return { platform: 'Android', platformVersion, architecture: '', model: model ?? '' }
  const platform = userAgent.includes('Windows') ? 'Windows' : userAgent.includes('Macintosh') ? 'macOS' : 'Linux'
  return { platform, platformVersion: '', architecture: 'x86', model: '' }
}
