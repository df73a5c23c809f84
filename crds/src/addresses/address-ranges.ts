// IP ranges that pages and webhooks may reach only if the rules allow it: the IANA special-purpose registries (RFC 6890 and its
// successors) and the metadata services of the large clouds. `address-rules.ts` applies this data.

/** One refused range. */
export interface RefusedRange {
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
