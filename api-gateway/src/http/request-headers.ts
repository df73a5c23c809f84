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

/** Matches of media ranges, the most specific first. The first of them that a header has gives the quality (RFC 9110, 12.5.1). */
type Specificity = readonly ((type: string) => boolean)[]

const isAnything = (type: string): boolean => ANYTHING.has(type)
const RECORD: Specificity = [isJson, (type) => /[/+]json$/.test(type), (type) => type === 'application/*', isAnything]
const fileOf = (contentType: string): Specificity => [(type) => type === contentType, (type) => ANY_FILE.has(type), isAnything]

/** The quality that an Accept header gives a body. 0: it does not accept it. */
function acceptedQuality(accept: string, specificity: Specificity): number {
  const ranges = parseRanges(accept)
  const matches = specificity.map((isMatch) => ranges.filter(({ type }) => isMatch(type))).find(({ length }) => length > 0)
  return Math.max(0, ...(matches ?? []).map(({ quality }) => quality))
}

/**
 * The body that an Accept header asks for, given the MIME type of the file: the one with the higher quality. If they are equal, as with a range for any
 * type, the record, unless the header names a type of files that it prefers over JSON. Undefined: the header accepts neither.
 */
export function preferredBody(accept: string | undefined, contentType: string): 'file' | 'record' | undefined {
  if (accept === undefined || accept.trim() === '') return 'record'
  const [file, record] = [acceptedQuality(accept, fileOf(contentType)), acceptedQuality(accept, RECORD)]
  if (file === 0 && record === 0) return undefined
  const namesFile = qualityOf(accept, (type) => FILE_TYPE.test(type)) > qualityOf(accept, isJson)
  return file > record || (file === record && namesFile) ? 'file' : 'record'
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
