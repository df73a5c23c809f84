import { getDomain } from 'tldts'

/** The site of a URL: its registrable domain such as `example.co.uk`. For an IP address or a single-label name, the host itself. */
export function siteOf(url: string): string {
  if (!URL.canParse(url)) return ''
  const { hostname } = new URL(url)
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname
}
