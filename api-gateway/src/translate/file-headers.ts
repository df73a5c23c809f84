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
