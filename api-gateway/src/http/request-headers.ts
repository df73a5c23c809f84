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

/** What asks for a file, whether or not a capture has such a format. */
const FILE_TYPE = /^((image|video|audio)\/[a-z0-9*.+-]+|application\/(pdf|octet-stream))$/
/** These stand for the file in any format, also for a PDF. */
const ANY_FILE = new Set(['image/*', 'video/*', 'application/octet-stream'])
const ANYTHING = new Set(['*/*', '*'])

/** The best quality of the types in an Accept header that are wanted. 0: it names none. */
const qualityOf = (accept: string, isWanted: (type: string) => boolean): number =>
  Math.max(0, ...parseRanges(accept).map(({ type, quality }) => (isWanted(type) ? quality : 0)))

const isJson = (type: string): boolean => type === 'application/json'

/** True when an Accept header accepts a type: by its own range if it has one, else by another that includes it. */
function isAccepted(accept: string, own: (type: string) => boolean, includes: (type: string) => boolean): boolean {
  const exact = parseRanges(accept).filter(({ type }) => own(type))
  return exact.length > 0 ? exact.some(({ quality }) => quality > 0) : qualityOf(accept, includes) > 0
}

const includesFile = (type: string): boolean => ANY_FILE.has(type) || ANYTHING.has(type)
const includesRecord = (type: string): boolean => ANYTHING.has(type) || type === 'application/*' || /[/+]json$/.test(type)

/**
 * The body that an Accept header asks for, given the MIME type of the file. A range for any type means the record, unless a type of files is preferred
 * over JSON. Undefined: the header accepts neither.
 */
export function preferredBody(accept: string | undefined, contentType: string): 'file' | 'record' | undefined {
  if (accept === undefined || accept.trim() === '') return 'record'
  const asksForFile = qualityOf(accept, (type) => FILE_TYPE.test(type)) > qualityOf(accept, isJson)
  if (asksForFile && isAccepted(accept, (type) => type === contentType, includesFile)) return 'file'
  return isAccepted(accept, isJson, includesRecord) ? 'record' : undefined
}

/** True when the Accept header prefers HTML over JSON, as that of browsers does. A range for any type does not count. */
export const prefersHtml = (accept = ''): boolean => qualityOf(accept, (type) => type === 'text/html') > qualityOf(accept, isJson)

/** True when the request says `Prefer: handling=lenient` (RFC 7240). Unknown names are then dropped and listed instead of rejected. */
export const isLenient = (prefer: string | string[] | undefined): boolean =>
  [prefer ?? []]
    .flat()
    .join(',')
    .split(',')
    .some((preference) => /^\s*handling\s*=\s*"?lenient"?\s*(;|$)/i.test(preference))
