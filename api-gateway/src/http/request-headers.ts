interface MediaRange {
  type: string
  quality: number
}

const parseRanges = (accept: string): MediaRange[] =>
  accept.split(',').map((part) => {
    const [type = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    const quality = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
    return { type, quality: Number.isNaN(quality) ? 0 : quality }
  })

const FILE_TYPE = /^(image|video)\/[a-z0-9*.+-]+$/

/** True when the Accept header prefers an image or video type over JSON. */
export function prefersFile(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const ranges = parseRanges(accept)
  const best = (is: (type: string) => boolean): number =>
    Math.max(0, ...ranges.filter(({ type }) => is(type)).map(({ quality }) => quality))
  const json = ranges.some(({ type }) => type === 'application/json') ? best((type) => type === 'application/json') : 0
  return best((type) => FILE_TYPE.test(type)) > json
}

/** True when the Accept header prefers HTML over JSON, as that of browsers does. A range for any type does not count. */
export function prefersHtml(accept: string | undefined): boolean {
  const ranges = parseRanges(accept ?? '')
  const qualityOf = (wanted: string): number => Math.max(0, ...ranges.filter(({ type }) => type === wanted).map(({ quality }) => quality))
  return qualityOf('text/html') > qualityOf('application/json')
}

/** True when the request says `Prefer: handling=lenient` (RFC 7240). Unknown names are then dropped and listed instead of rejected. */
export const isLenient = (prefer: string | string[] | undefined): boolean =>
  [prefer ?? []]
    .flat()
    .join(',')
    .split(',')
    .some((preference) => /^\s*handling\s*=\s*"?lenient"?\s*(;|$)/i.test(preference))
