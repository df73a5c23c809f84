import { ARTIFACT_CONTENT_TYPES } from '@tintype/crds/options/artifacts'
import { CONTENT_TYPES } from '@tintype/crds/options/output/formats'
import { replaceMisleading } from '@tintype/crds/text/misleading-name'

const TYPES = new Map<string, string>([...Object.entries(CONTENT_TYPES), ...ARTIFACT_CONTENT_TYPES])

/** Content type by the end of the extension (`thumb.png` is a png). The type in the object store is not trusted, because the upload set it. */
export const contentTypeOf = (extension: string): string => TYPES.get(extension.split('.').at(-1) ?? '') ?? 'application/octet-stream'

/** `inline` for pictures and videos, else `attachment`. A given name always makes it an attachment (RFC 6266). */
export function dispositionOf(name: string, extension: string, attachment: string | undefined): string {
  const isShown = /^(image|video)\//.test(contentTypeOf(extension))
  // Records of earlier versions can have such names.
  const fileName = replaceMisleading(attachment ?? name)
  const ascii = fileName.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const extended = ascii === fileName ? '' : `; filename*=UTF-8''${encodeURIComponent(fileName).replaceAll(/['()*]/g, toPercent)}`
  return `${attachment === undefined && isShown ? 'inline' : 'attachment'}; filename="${ascii}"${extended}`
}

const toPercent = (letter: string): string => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`

/** A link carries its own permission, so pages of other origins may show the file, also with a Cross-Origin-Embedder-Policy. */
export const EMBEDDABLE: Readonly<Record<string, string>> = { 'cross-origin-resource-policy': 'cross-origin' }

/** Files are served from the API's origin, so browsers must neither sniff their type nor run scripts in them. */
export const SAFE_FILE_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'",
  ...EMBEDDABLE,
}

/** A byte range, both ends included. */
export interface ByteRange {
  start: number
  end: number
}

/**
 * Parses a Range header (RFC 9110). Returns undefined to send the whole file, also for unknown units and several ranges. Returns `unsatisfiable` when
 * the range is outside the file.
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
