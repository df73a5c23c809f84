import { isAddressLiteral, toCanonicalHost } from './address-rules.ts'

// The hosts that the policies of API keys allow. Gateway and runner decide with the same functions.

/** A host name in lower case, or `*.` and a host name for its subdomains. International names are in Punycode, as browsers send them. */
export const HOST_PATTERN = /^(\*\.)?[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?(\.[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?)*$/
export const MAX_HOST_PATTERN_LENGTH = 255
/** Maximum number of patterns of one list. */
export const MAX_HOST_PATTERNS = 64

const WILDCARD = '*.'

/**
 * True if a pattern matches the host of a URL, as browsers read it: in any case, with or without a trailing dot, international or in Punycode.
 * `*.example.com` matches subdomains of any depth, but not `example.com`. The port does not matter. An IPv4 address matches only itself. No pattern
 * matches an IPv6 address, or text that is no host.
 */
export function matchesHost(text: string, patterns: readonly string[]): boolean {
  const host = toCanonicalHost(text)?.replace(/\.$/, '')
  if (host === undefined) return false
  const isAddress = isAddressLiteral(host)
  return patterns.some((pattern) => {
    const expected = pattern.toLowerCase()
    if (!expected.startsWith(WILDCARD)) return host === expected
    return !isAddress && host.endsWith(expected.slice(1)) && host.length > expected.length - 1
  })
}

/** True if a pattern matches the host of an http or https URL. @see matchesHost */
export function matchesUrl(url: string, patterns: readonly string[]): boolean {
  const parsed = URL.parse(url)
  return parsed !== null && /^https?:$/.test(parsed.protocol) && matchesHost(parsed.hostname, patterns)
}
