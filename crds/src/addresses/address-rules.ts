// Decides which hosts a page or a webhook may reach. These functions are pure: the caller resolves names and connects. A caller must
// check three things: the host as it was written (`classifyHost`), every IP address to which the name resolves (`classifyAddress`), and
// the port (`classifyPort`). A check of the name alone leaves the decision to DNS. A check of the IP address alone
// allows `kubernetes.default.svc` in clusters whose services have public addresses.

import ipaddr from 'ipaddr.js'
import { toAsciiForm } from '../text/ascii-form.ts'

// IP ranges that pages and webhooks may reach only if the rules allow it: the IANA special-purpose registries (RFC 6890 and its
// successors) and the metadata services of the large clouds. `address-rules.ts` applies this data.

/** One refused range. */
interface RefusedRange {
  cidr: string
  /** Description of the range, to end the sentence "10.0.0.1 is …". */
  is: string
  /**
   * True for networks that an allowed host name may resolve to. False for loopback, link-local, metadata and similar ranges, because
   * no legitimate name resolves to them.
   */
  opensToNames: boolean
}

const network = (cidr: string, is: string): RefusedRange => ({ cidr, is, opensToNames: true })
const never = (cidr: string, is: string): RefusedRange => ({ cidr, is, opensToNames: false })

export const REFUSED_RANGES: readonly RefusedRange[] = [
  never('0.0.0.0/8', 'an unspecified address'),
  network('10.0.0.0/8', 'a private address'),
  network('100.64.0.0/10', 'a carrier-grade NAT address'),
  never('100.100.100.200/32', 'a metadata address'), // Alibaba Cloud
  never('127.0.0.0/8', 'a loopback address'),
  never('168.63.129.16/32', 'a metadata address'), // Azure; the only one of them in a public range
  never('169.254.0.0/16', 'a link-local address'), // with 169.254.169.254, and 169.254.170.2 of ECS
  network('172.16.0.0/12', 'a private address'),
  network('192.0.0.0/24', 'a protocol assignment'),
  never('192.0.0.192/32', 'a metadata address'), // Oracle Cloud
  network('192.0.2.0/24', 'a documentation address'),
  never('192.88.99.0/24', 'a 6to4 relay'),
  network('192.168.0.0/16', 'a private address'),
  network('198.18.0.0/15', 'a benchmarking address'),
  network('198.51.100.0/24', 'a documentation address'),
  network('203.0.113.0/24', 'a documentation address'),
  never('224.0.0.0/4', 'a multicast address'),
  never('240.0.0.0/4', 'a reserved address'),
  never('255.255.255.255/32', 'the broadcast address'),
  never('::/96', 'an IPv4-compatible address'),
  never('::/128', 'the unspecified address'),
  never('::1/128', 'a loopback address'),
  never('::ffff:0:0:0/96', 'an IPv4-translated address'),
  never('64:ff9b::/96', 'a NAT64 address'),
  never('64:ff9b:1::/48', 'a NAT64 address'),
  never('100::/64', 'a discard-only address'),
  never('2001::/23', 'a protocol assignment'), // Teredo 2001::/32 among them
  never('2001::/32', 'a Teredo address'),
  network('2001:db8::/32', 'a documentation address'),
  never('2002::/16', 'a 6to4 address'),
  network('3fff::/20', 'a documentation address'),
  never('5f00::/16', 'a segment routing address'),
  network('fc00::/7', 'a unique local address'),
  never('fd00:ec2::254/128', 'a metadata address'), // AWS
  never('fd20:ce::254/128', 'a metadata address'), // Google Cloud
  never('fe80::/10', 'a link-local address'),
  never('fec0::/10', 'a site-local address'),
  never('ff00::/8', 'a multicast address'),
]

/** Egress rules of a RunnerPool or of the webhook settings, in addition to the built-in ranges. */
export interface EgressRules {
  /**
   * Names that may resolve to private networks, or `*.suffix` for all subdomains, such as `*.sites.svc.cluster.local`. They never allow
   * loopback, link-local or metadata addresses.
   */
  allowedHosts: readonly string[]
  /** Ranges to allow for IP addresses and for every name. The smallest range that contains an address decides. */
  allowedCidrs: readonly string[]
  /**
   * Ranges to deny in addition to the built-in ones, such as pod, service and node networks. The smallest range decides. If two are equal,
   * `deniedCidrs` overrides `allowedCidrs`, and `allowedCidrs` overrides the built-in ranges.
   */
  deniedCidrs: readonly string[]
  /** Ports below 1024 to allow in addition to 80 and 443. */
  allowedPorts: readonly number[]
}

/** Addresses of each family of a name that are checked and dialed. A name server can return thousands, and each costs time. */
export const MAX_ADDRESSES = 16

/** The rules of a pool without egress settings. */
export const DEFAULT_EGRESS_RULES: EgressRules = { allowedHosts: [], allowedCidrs: [], deniedCidrs: [], allowedPorts: [] }

/** `reason` is a sentence without a full stop, for an API error. It names the host, IP address or port. */
export type AddressDecision = { allowed: true } | { allowed: false; reason: string }

/** Facts about an IP address that the caller knows. */
interface AddressContext {
  /** True if the name that resolved to it is in `allowedHosts` ({@link isAllowedHost}). */
  hostAllowed?: boolean
  /** IP addresses of the requesting pod, which are always denied. */
  ownAddresses?: readonly string[]
}

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Cidr = [Address, number]
interface Denial {
  bits: number
  is: string
  opensToNames: boolean
  /** True if an allowed range of the same size overrides it. `allowedCidrs` exists to open the built-in ranges. */
  yieldsToEqual: boolean
}

const DIGITS_AND_DOTS = /^[\d.]+$/

const ALLOWED: AddressDecision = { allowed: true }
const refused = (reason: string): AddressDecision => ({ allowed: false, reason })

const IPV4_TAIL = /(?<=:)[\d.]+(?=$|[%/])/

/** Replaces the dotted part of an IPv6 address by groups: ipaddr.js parses `::10.0.0.1` as `::ffff:10.0.0.1`, which is another address. */
const withoutDots = (text: string): string =>
  text.replace(IPV4_TAIL, (tail) =>
    ipaddr.IPv4.isValidFourPartDecimal(tail) ? ipaddr.IPv4.parse(tail).toIPv4MappedAddress().toString().slice('::ffff:'.length) : tail,
  )

/** Parses an IP address. The kernel treats `::ffff:10.0.0.1` as 10.0.0.1, so the rules do too. Undefined for other text, and for addresses with a zone. */
const parseAddress = (text: string): Address | undefined => {
  if (!isAddressLiteral(text)) return undefined
  const address = ipaddr.parse(withoutDots(text))
  if (address instanceof ipaddr.IPv4) return address
  if (address.zoneId !== undefined) return undefined
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

const parseCidr = (text: string): Cidr => {
  const [address, bits] = ipaddr.parseCIDR(withoutDots(text))
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96
  return isMapped ? [address.toIPv4Address(), bits - 96] : [address, bits]
}

const parsedLists = new WeakMap<readonly string[], readonly Cidr[]>()

/** Parses a list of ranges once, because every connection of a page uses the same list. */
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

/** Ranges of addresses with an IPv4 address in them, which receives the packets, and the offset of its bytes. */
const EMBEDDING_RANGES = [
  { cidr: '::/96', offset: 12 },
  { cidr: '::ffff:0:0:0/96', offset: 12 }, // IPv4-translated
  { cidr: '64:ff9b::/96', offset: 12 }, // NAT64
  { cidr: '64:ff9b:1::/48', offset: 12 }, // NAT64, for prefixes of 96 bits
  { cidr: '2002::/16', offset: 2 }, // 6to4
].map(({ cidr, offset }) => ({ range: parseCidr(cidr), offset }))
const UNSPECIFIED_AND_LOOPBACK = parseCidr('::/127')
const TEREDO = parseCidr('2001::/32')
/** Bytes 8 to 11 of an ISATAP address, for private and for global IPv4 addresses. */
const ISATAP = ['0,0,94,254', '2,0,94,254']

/** The IPv4 addresses to which hosts and gateways send the packets for this address. An address can have several of the forms. */
const embeddedAddresses = (address: Address): ipaddr.IPv4[] => {
  if (!(address instanceof ipaddr.IPv6) || holds(UNSPECIFIED_AND_LOOPBACK, address)) return []
  const bytes = address.toByteArray()
  const at = (offset: number): ipaddr.IPv4 => new ipaddr.IPv4(bytes.slice(offset, offset + 4))
  const inverted = () => new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff))
  return [
    ...EMBEDDING_RANGES.filter(({ range }) => holds(range, address)).map(({ offset }) => at(offset)),
    ...(holds(TEREDO, address) ? [at(4), inverted()] : []), // the server and the client
    ...(ISATAP.includes(bytes.slice(8, 12).join(',')) ? [at(12)] : []),
  ]
}

/** Covers ranges that are not in the table: IPv6 outside the global unicast block, and all ranges that ipaddr.js classifies as special. */
const isSpecial = (address: Address): boolean => {
  if (address instanceof ipaddr.IPv6 && !holds(GLOBAL_UNICAST, address)) return true
  return address.range() !== 'unicast'
}

const denialsOf = (address: Address, rules: EgressRules, ownAddresses: readonly string[]): Denial[] => {
  const own = ownAddresses.map(parseAddress).filter((other) => other?.toString() === address.toString())
  const closed = parseAll(rules.deniedCidrs).filter((cidr) => holds(cidr, address))
  return [
    ...own.map(() => ({ bits: 128, is: 'the IP address of the requesting pod', opensToNames: false, yieldsToEqual: false })),
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
 * Evaluates one IP address, in the spelling of the resolver, the socket or a canonical literal. An IPv6 address with IPv4 addresses in it
 * (NAT64, 6to4) is allowed only if all are. A DNS64 cluster must add `64:ff9b::/96` to `allowedCidrs`. Connect to {@link toPlainAddress}, which
 * has exactly the evaluated bits.
 *
 * @throws Error if a range of the rules is not a CIDR
 */
export const classifyAddress = (text: string, rules: EgressRules, context: AddressContext = {}): AddressDecision => {
  const address = parseAddress(text)
  if (!address) return refused(`${text} is not an IP address`)
  const denials = denialsOf(address, rules, context.ownAddresses ?? [])
  const strongest = denials.reduce<Denial | undefined>((most, denial) => (most && most.bits >= denial.bits ? most : denial), undefined)
  const isNameOpen = context.hostAllowed === true && denials.every((denial) => denial.opensToNames)
  if (strongest && !isNameOpen && !isOpened(address, strongest, rules)) return refused(`${address} is ${strongest.is}`)
  for (const embedded of embeddedAddresses(address)) {
    const decision = classifyAddress(embedded.toString(), rules, context)
    if (!decision.allowed) return refused(`${address} is an IPv6 form of an IPv4 address: ${decision.reason}`)
  }
  return ALLOWED
}

/**
 * The host as a browser parses it: lower case, punycode, `127.1` and `0x7f000001` as 127.0.0.1, IPv6 without brackets.
 * Undefined for text that browsers refuse.
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

/** True for a canonical host ({@link toCanonicalHost}) that is an IP address. */
export const isAddressLiteral = (host: string): boolean =>
  // The library throws and catches an error for each name. Checking the characters first avoids most of these errors.
  (DIGITS_AND_DOTS.test(host) && ipaddr.IPv4.isValidFourPartDecimal(host)) || ipaddr.IPv6.isValid(withoutDots(host))

/**
 * True if a pattern of `allowedHosts` matches the canonical name, with or without a trailing dot. International patterns match the name in Punycode.
 * Patterns never match IP addresses; use ranges for these.
 */
export const isAllowedHost = (host: string, rules: Pick<EgressRules, 'allowedHosts'>): boolean => {
  if (isAddressLiteral(host)) return false
  const name = host.replace(/\.$/, '')
  return rules.allowedHosts.some((pattern) => {
    const wanted = (toAsciiForm(pattern) ?? pattern).toLowerCase()
    if (wanted === '*') return true
    return wanted.startsWith('*.') ? name.endsWith(wanted.slice(1)) && name.length >= wanted.length : name === wanted
  })
}

/** Suffixes of internal names: the cluster's own zones, special-use names (RFC 6761, 6762, 8375) and the internal domains of clouds. */
const INTERNAL_SUFFIXES = ['localhost', 'localdomain', 'local', 'internal', 'svc', 'home.arpa']

/** Evaluates the host of a URL or of a proxy request, before it is resolved. An allowed name may still resolve to a denied IP address. */
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

/** Allows 80, 443, ports from 1024, and the ports of the rules. Other ports below 1024 belong to mail, shells and file shares. */
export const classifyPort = (port: number, rules: Pick<EgressRules, 'allowedPorts'>): AddressDecision => {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return refused(`${port} is not a port`)
  const isOpen = port === 80 || port === 443 || port >= 1024 || rules.allowedPorts.includes(port)
  return isOpen ? ALLOWED : refused(`port ${port} is not open`)
}

/** Evaluates scheme, host and port of a URL without resolving the host. The gateway uses it for submitted URLs and for webhook URLs. */
export const classifyUrl = (text: string, rules: EgressRules): AddressDecision => {
  if (!URL.canParse(text)) return refused('the text is not a URL')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return refused(`the scheme ${url.protocol.slice(0, -1)} is neither http nor https`)
  const host = classifyHost(url.hostname, rules)
  return host.allowed ? classifyPort(portOf(url), rules) : host
}

/** The port of a URL, or the default port of its scheme. */
export const portOf = (url: URL): number => {
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' || url.protocol === 'wss:' ? 443 : 80
}

/** The canonical spelling of an IP address: IPv4-mapped as IPv4, IPv6 compressed. Undefined for other text. */
export const toPlainAddress = (text: string): string | undefined => parseAddress(text)?.toString()

/** True if one of the ranges contains the IP address. @throws Error if a range is not a CIDR */
export const isWithin = (text: string, cidrs: readonly string[]): boolean => {
  const address = parseAddress(text)
  return address !== undefined && parseAll(cidrs).some((cidr) => holds(cidr, address))
}

/** True for a valid CIDR. Schemas call this, so that typing errors are reported early. */
export const isCidr = (text: string): boolean => ipaddr.isValidCIDR(text) && text.includes('/')
