import { getDomain } from 'tldts'

/** The site that an address belongs to: its registrable domain, `example.co.uk`; for an IP address or a lone name the host itself. */
export function siteOf(url: string): string {
  if (!URL.canParse(url)) return ''
  const { hostname } = new URL(url)
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname
}
