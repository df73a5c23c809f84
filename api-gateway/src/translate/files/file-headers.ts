import { ARTIFACT_CONTENT_TYPES } from '@tintype/crds/artifacts'
import { CONTENT_TYPES } from '@tintype/crds/capture-options/image'

const TYPES = new Map<string, string>([...Object.entries(CONTENT_TYPES), ...ARTIFACT_CONTENT_TYPES])

/** The type of a stored file by the last part of its extension (`thumb.png` is a png). Never the store's: it holds what an upload said. */
export const contentTypeOf = (extension: string): string => TYPES.get(extension.split('.').at(-1) ?? '') ?? 'application/octet-stream'

/** `inline` for pictures, a download for all else; `attachment` names the file to save under (RFC 6266). */
export function dispositionOf(name: string, extension: string, attachment: string | undefined): string {
  const isPicture = contentTypeOf(extension).startsWith('image/')
  const fileName = attachment ?? name
  const ascii = fileName.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const extended = ascii === fileName ? '' : `; filename*=UTF-8''${encodeURIComponent(fileName).replaceAll(/['()*]/g, toPercent)}`
  return `${attachment === undefined && isPicture ? 'inline' : 'attachment'}; filename="${ascii}"${extended}`
}

const toPercent = (letter: string): string => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`

/** /files is the API's own origin: whatever a file holds, a browser must neither guess its type nor run it. */
export const SAFE_FILE_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'",
}

/** Bytes of a file, both ends included. */
export interface ByteRange {
  start: number
  end: number
}

/**
 * Reads a Range header (RFC 9110). Undefined: send everything, which is also right for what is not understood and for several
 * ranges at once. `unsatisfiable`: the file has none of these bytes.
 */
export function parseRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined
  if (from === '') {
    const length = Math.min(Number(to), sizeBytes)
    return length === 0 ? 'unsatisfiable' : { start: sizeBytes - length, end: sizeBytes - 1 }
  }
  const start = Number(from)
  const end = to === '' ? sizeBytes - 1 : Math.min(Number(to), sizeBytes - 1)
  if (to !== '' && Number(to) < start) return undefined
  return start >= sizeBytes ? 'unsatisfiable' : { start, end }
}
