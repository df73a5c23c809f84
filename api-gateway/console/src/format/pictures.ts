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

// Pictures of different sizes that lie above each other, with the same scale and the same upper left corner.

export interface Size {
  width: number
  height: number
}

export interface Box extends Size {
  x: number
  y: number
}

/** The smallest frame that contains all pictures. */
export const frameOf = (sizes: readonly Size[]): Size => ({
  width: Math.max(1, ...sizes.map(({ width }) => width)),
  height: Math.max(1, ...sizes.map(({ height }) => height)),
})

const share = (part: number, whole: number): string => `${(100 * part) / whole}%`

/** Styles that place a box in the frame, which may be drawn in any size. */
export const placeIn = (frame: Size, { x, y, width, height }: Box): Record<'left' | 'top' | 'width' | 'height', string> => ({
  left: share(x, frame.width),
  top: share(y, frame.height),
  width: share(width, frame.width),
  height: share(height, frame.height),
})

/** `0.01236` → `1.236 %`. Small shares keep two significant digits. */
export function formatShare(ratio: number): string {
  const percent = ratio * 100
  if (percent === 0) return '0 %'
  return `${percent >= 1 ? percent.toFixed(1) : percent.toPrecision(2)} %`
}
