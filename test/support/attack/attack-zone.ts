import type { Zone } from '../servers/dns-server.ts'

// A DNS zone whose names contain their address, and some names with malicious responses.

const ZONE = 'attack.example'

/** The zone's name as in a query. */
export const ZONE_MARK = '\x06attack\x07example\x00'

/** The name that resolves to an address. */
export const nameOf = (address: string): string =>
  address.includes(':') ? `${address.replaceAll(':', '-')}.v6.${ZONE}` : `${address.replaceAll('.', '-')}.v4.${ZONE}`

/** Names with more than one address. `inner` is the private one. */
export const TRAPS = {
  /** A public and a private address at once. */
  mixed: (inner: string) => `${inner.replaceAll('.', '-')}.mixed.${ZONE}`,
  /** IPv4 public, where nothing listens, IPv6 private. */
  families: () => `families.${ZONE}`,
  /** An alias of a name that is private. */
  alias: (inner: string) => `${inner.replaceAll('.', '-')}.alias.${ZONE}`,
  /** Alternates between a public and a private address. */
  changing: (inner: string) => `${inner.replaceAll('.', '-')}.changing.${ZONE}`,
} as const

/** The private address of `families`. */
export const FAMILIES_INNER = 'fd00::1'

/** @param outside the public address of the traps; @param dead one where nothing listens */
export function attackZone({ outside, dead }: { outside: string; dead: string }): Zone {
  const asked = new Map<string, number>()
  return (name) => {
    const [label = '', kind = ''] = name.split('.')
    const inner = label.replaceAll('-', '.')
    switch (kind) {
      case 'v4':
        return { addresses: [inner] }
      case 'v6':
        return { addresses: [label.replaceAll('-', ':')] }
      case 'mixed':
        return { addresses: [inner, outside] }
      case 'alias':
        return { cname: nameOf(inner), addresses: [inner] }
      case 'changing': {
        // One lookup consists of two queries, A and AAAA.
        const count = asked.get(name) ?? 0
        asked.set(name, count + 1)
        return { addresses: [Math.floor(count / 2) % 2 === 0 ? outside : inner] }
      }
      default:
        return label === 'families' ? { addresses: [dead, FAMILIES_INNER] } : undefined
    }
  }
}
