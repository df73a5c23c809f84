const FILE = /^\/(?:.*\/)?files\/users\/.+$/

/**
 * The URL at which the console loads a file. Links of the gateway are made relative, because the console may be open at another host than
 * `gateway.publicUrl`. Links of the object store stay unchanged. Anything else is not loaded.
 */
export function toPictureUrl(link: string | null): string | undefined {
  if (link === null) return undefined
  const url = URL.parse(link, 'http://gateway.invalid')
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  if (!FILE.test(url.pathname) || !url.searchParams.has('signature')) return link
  return url.pathname.slice(url.pathname.indexOf('/files/users/') + 1) + url.search
}

/** A page's URL for a link of the console, or undefined unless it is http or https. A `javascript:` URL would run in the console. */
export function toSafeLink(text: string | null | undefined): string | undefined {
  const url = text ? URL.parse(text) : null
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined
}
