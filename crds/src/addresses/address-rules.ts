// Where a page or a webhook may go. Pure: the caller resolves names and dials; these functions only judge. A caller must
// ask three times: about the host as it was written (`classifyHost`), about every address the name resolves to (`classifyAddress`),
// and about the port (`classifyPort`). Asking only about the name lets DNS decide; asking only about the address lets
// `kubernetes.default.svc` through wherever services have public addresses.

import ipaddr from 'ipaddr.js'
import { REFUSED_RANGES, type RefusedRange } from './address-ranges.ts'

/** What a RunnerPool or the webhook settings open and close beyond the built-in ranges. */
export interface EgressRules {
  /** Names, or `*.suffix` for every name below one, that may point into private networks: `*.sites.svc.cluster.local`. Never to loopback, link-local or metadata addresses. */
  allowedHosts: readonly string[]
  /** Ranges opened for literals and for every name. Of two ranges that hold an address the smaller decides; of two equal ones, this. */
  allowedCidrs: readonly string[]
  /** Ranges closed beside the built-in ones: pod, service and node networks. The smaller range decides; of two equal ones, this wins over `allowedCidrs`. */
  deniedCidrs: readonly string[]
  /** Ports below 1024 that are open beside 80 and 443. */
  allowedPorts: readonly number[]
}

/** The rules of a pool that opens nothing. */
export const DEFAULT_EGRESS_RULES: EgressRules = { allowedHosts: [], allowedCidrs: [], deniedCidrs: [], allowedPorts: [] }

/** `reason` is a sentence without its full stop, fit for an API error; it names the host, address or port. */
export type AddressDecision = { allowed: true } | { allowed: false; reason: string }

/** What the caller knows about an address beside its text. */
export interface AddressContext {
  /** The name that resolved to it is on `allowedHosts` ({@link isAllowedHost}). */
  hostAllowed?: boolean
  /** Addresses of the asking pod: never reached under any name or range. */
  ownAddresses?: readonly string[]
}

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Cidr = [Address, number]
interface Denial {
  bits: number
  is: string
  opensToNames: boolean
  /** True where an equally large allowed range wins: the built-in table is what `allowedCidrs` exists to open. */
  yieldsToEqual: boolean
}

const DIGITS_AND_DOTS = /^[\d.]+$/

const ALLOWED: AddressDecision = { allowed: true }
const refused = (reason: string): AddressDecision => ({ allowed: false, reason })

/** `::ffff:10.0.0.1` is 10.0.0.1 for the kernel, so it is for the rules. Undefined for what is not an address; zones are none of a page's business. */
const parseAddress = (text: string): Address | undefined => {
  if (!isAddressLiteral(text)) return undefined
  const address = ipaddr.parse(text)
  if (address instanceof ipaddr.IPv4) return address
  if (address.zoneId !== undefined) return undefined
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

const parseCidr = (text: string): Cidr => {
  const [address, bits] = ipaddr.parseCIDR(text)
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96
  return isMapped ? [address.toIPv4Address(), bits - 96] : [address, bits]
}

const parsedLists = new WeakMap<readonly string[], readonly Cidr[]>()

/** A list of ranges, read once: each connection of a page is judged by the same ones. */
const parseAll = (cidrs: readonly string[]): readonly Cidr[] => {
  const known = parsedLists.get(cidrs)
  if (known) return known
  const parsed = cidrs.map(parseCidr)
  parsedLists.set(cidrs, parsed)
  return parsed
}

const holds = ([network, bits]: Cidr, address: Address): boolean => network.kind() === address.kind() && address.match(network, bits)

const BUILT_IN = REFUSED_RANGES.map((range): RefusedRange & { parsed: Cidr } => ({ ...range, parsed: parseCidr(range.cidr) }))
const GLOBAL_UNICAST = parseCidr('2000::/3')
const NAT64 = parseCidr('64:ff9b::/96')
const SIX_TO_FOUR = parseCidr('2002::/16')

/** The IPv4 address that a gateway on the way would take out of this one. */
const embeddedAddress = (address: Address): ipaddr.IPv4 | undefined => {
  if (!(address instanceof ipaddr.IPv6)) return undefined
  const bytes = address.toByteArray()
  if (holds(NAT64, address)) return new ipaddr.IPv4(bytes.slice(12))
  if (holds(SIX_TO_FOUR, address)) return new ipaddr.IPv4(bytes.slice(2, 6))
  return undefined
}

/** Whatever the table forgot: IPv6 outside the one global unicast block, and all that ipaddr.js calls special. */
const isSpecial = (address: Address): boolean => {
  if (address instanceof ipaddr.IPv6 && !holds(GLOBAL_UNICAST, address)) return true
  return address.range() !== 'unicast'
}

const denialsOf = (address: Address, rules: EgressRules, ownAddresses: readonly string[]): Denial[] => {
  const own = ownAddresses.map(parseAddress).filter((other) => other?.toString() === address.toString())
  const closed = parseAll(rules.deniedCidrs).filter((cidr) => holds(cidr, address))
  return [
    ...own.map(() => ({ bits: 128, is: 'the address of the asking pod itself', opensToNames: false, yieldsToEqual: false })),
    ...closed.map(([, bits]) => ({ bits, is: 'in a denied network', opensToNames: true, yieldsToEqual: false })),
    ...BUILT_IN.filter(({ parsed }) => holds(parsed, address)).map(({ parsed, ...range }) => ({
      ...range,
      bits: parsed[1],
      yieldsToEqual: true,
    })),
    ...(isSpecial(address) ? [{ bits: 1, is: 'a special-purpose address', opensToNames: true, yieldsToEqual: true }] : []),
  ]
}

const isOpened = (address: Address, denial: Denial, rules: EgressRules): boolean =>
  parseAll(rules.allowedCidrs).some(
    (cidr) => holds(cidr, address) && (cidr[1] > denial.bits || (cidr[1] === denial.bits && denial.yieldsToEqual)),
  )

/**
 * Judges one address, given as the resolver, the socket or a canonical literal spells it. An address that carries an IPv4 address
 * (NAT64, 6to4) passes only when both do. A DNS64 cluster puts `64:ff9b::/96` on `allowedCidrs`.
 *
 * @throws Error when a rule's range is not a CIDR
 */
export const classifyAddress = (text: string, rules: EgressRules, context: AddressContext = {}): AddressDecision => {
  const address = parseAddress(text)
  if (!address) return refused(`${text} is not an IP address`)
  const denials = denialsOf(address, rules, context.ownAddresses ?? [])
  const strongest = denials.reduce<Denial | undefined>((most, denial) => (most && most.bits >= denial.bits ? most : denial), undefined)
  const isNameOpen = context.hostAllowed === true && denials.every((denial) => denial.opensToNames)
  if (strongest && !isNameOpen && !isOpened(address, strongest, rules)) return refused(`${address} is ${strongest.is}`)
  const embedded = embeddedAddress(address)
  return embedded ? classifyAddress(embedded.toString(), rules, context) : ALLOWED
}

/**
 * The host as a browser understands it: lower case, punycode, `127.1` and `0x7f000001` as 127.0.0.1, IPv6 without brackets.
 * Undefined for what no browser would go to.
 */
export const toCanonicalHost = (host: string): string | undefined => {
  if (host === '' || /[\s/\\?#@%]/.test(host)) return undefined
  const bracketed = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  try {
    const url = new URL(`http://${bracketed}/`)
    return url.port === '' ? url.hostname.replace(/^\[(.*)\]$/, '$1') : undefined
  } catch {
    return undefined
  }
}

/** True for a canonical host ({@link toCanonicalHost}) that is an address and needs no resolver. */
export const isAddressLiteral = (host: string): boolean =>
  // The library throws and catches an error for each name: a look at its letters spares most of them.
  (DIGITS_AND_DOTS.test(host) && ipaddr.IPv4.isValidFourPartDecimal(host)) || ipaddr.IPv6.isValid(host)

/** True when `host` (canonical, a trailing dot aside) is a name that a pattern of `allowedHosts` holds. Patterns hold no literals: ranges do that. */
export const isAllowedHost = (host: string, rules: Pick<EgressRules, 'allowedHosts'>): boolean => {
  if (isAddressLiteral(host)) return false
  const name = host.replace(/\.$/, '')
  return rules.allowedHosts.some((pattern) => {
    const wanted = pattern.toLowerCase()
    if (wanted === '*') return true
    return wanted.startsWith('*.') ? name.endsWith(wanted.slice(1)) && name.length >= wanted.length : name === wanted
  })
}

/** Suffixes that mean "inside": the cluster's own zones, special-use names (RFC 6761, 6762, 8375) and what clouds use for their networks. */
const INTERNAL_SUFFIXES = ['localhost', 'localdomain', 'local', 'internal', 'svc', 'home.arpa']

/** Judges a host as it stands in a URL or as a browser names it to its proxy, before any resolver is asked. A name that passes may still resolve to a refused address. */
export const classifyHost = (host: string, rules: EgressRules, context: AddressContext = {}): AddressDecision => {
  const name = toCanonicalHost(host)
  if (name === undefined) return refused(`${JSON.stringify(host)} is not a host name`)
  if (isAddressLiteral(name)) return classifyAddress(name, rules, context)
  if (isAllowedHost(name, rules)) return ALLOWED
  if (name.endsWith('.')) return refused(`${name} ends in a dot`)
  if (name.length > 253 || name.split('.').some((label) => label === '' || label.length > 63)) return refused(`${name} is not a host name`)
  const suffix = INTERNAL_SUFFIXES.find((internal) => name === internal || name.endsWith(`.${internal}`))
  if (suffix) return refused(`${name} is an internal name (.${suffix})`)
  return name.includes('.') ? ALLOWED : refused(`${name} is a name without a dot`)
}

/** 80, 443, 1024 and above, and what the rules add: below 1024 live mail, shells and file shares, which a browser has no business with. */
export const classifyPort = (port: number, rules: Pick<EgressRules, 'allowedPorts'>): AddressDecision => {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return refused(`${port} is not a port`)
  const isOpen = port === 80 || port === 443 || port >= 1024 || rules.allowedPorts.includes(port)
  return isOpen ? ALLOWED : refused(`port ${port} is not open`)
}

/** Judges what a URL says by itself: scheme, host and port. For the gateway at submission and for a webhook's address, before any name is resolved. */
export const classifyUrl = (text: string, rules: EgressRules): AddressDecision => {
  if (!URL.canParse(text)) return refused('the address is not a URL')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return refused(`the scheme ${url.protocol.slice(0, -1)} is neither http nor https`)
  const host = classifyHost(url.hostname, rules)
  return host.allowed ? classifyPort(portOf(url), rules) : host
}

/** The port a URL means: its own, or its scheme's. */
export const portOf = (url: URL): number => {
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' || url.protocol === 'wss:' ? 443 : 80
}

/** The one spelling of an address: IPv4-mapped as IPv4, IPv6 compressed. Undefined for what is not an address. */
export const toPlainAddress = (text: string): string | undefined => parseAddress(text)?.toString()

/** True when one of the ranges holds the address. @throws Error when a range is not a CIDR */
export const isWithin = (text: string, cidrs: readonly string[]): boolean => {
  const address = parseAddress(text)
  return address !== undefined && parseAll(cidrs).some((cidr) => holds(cidr, address))
}

/** True for text that the rules can hold as a range. Schemas ask this, so that a typing error is refused where it is made. */
export const isCidr = (text: string): boolean => ipaddr.isValidCIDR(text) && text.includes('/')
