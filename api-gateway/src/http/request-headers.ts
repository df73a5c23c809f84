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

/** The best quality of the types in an Accept header that are wanted. 0: it names none. */
const qualityOf = (accept: string, isWanted: (type: string) => boolean): number =>
  Math.max(0, ...parseRanges(accept).map(({ type, quality }) => (isWanted(type) ? quality : 0)))

const isJson = (type: string): boolean => type === 'application/json'

/** True when the Accept header prefers an image or video type over JSON. */
export const prefersFile = (accept = ''): boolean => qualityOf(accept, (type) => FILE_TYPE.test(type)) > qualityOf(accept, isJson)

/** True when the Accept header prefers HTML over JSON, as that of browsers does. A range for any type does not count. */
export const prefersHtml = (accept = ''): boolean => qualityOf(accept, (type) => type === 'text/html') > qualityOf(accept, isJson)

/** True when the request says `Prefer: handling=lenient` (RFC 7240). Unknown names are then dropped and listed instead of rejected. */
export const isLenient = (prefer: string | string[] | undefined): boolean =>
  [prefer ?? []]
    .flat()
    .join(',')
    .split(',')
    .some((preference) => /^\s*handling\s*=\s*"?lenient"?\s*(;|$)/i.test(preference))
