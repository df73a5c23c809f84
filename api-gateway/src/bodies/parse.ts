import { toPath } from '@tintype/crds/schema/issue-messages'
import { findIllFormedText, findReservedName } from '@tintype/crds/text/json'
import { ApiError, invalid, type Problem } from '../common/errors.ts'

// Decodes the bytes of a body and parses them.

const utf8 = new TextDecoder('utf-8', { fatal: true })
const latin1 = new TextDecoder('windows-1252', { fatal: true })

/** Encodings by their names in Content-Type. In all of them, the bytes that JsonScan compares are ASCII. A decoder drops a byte order mark. */
const DECODERS: ReadonlyMap<string, TextDecoder> = new Map([
  ...['utf-8', 'utf8', 'us-ascii', 'ascii'].map((name) => [name, utf8] as const),
  // As browsers read ISO 8859-1.
  ...['iso-8859-1', 'latin1', 'windows-1252'].map((name) => [name, latin1] as const),
])

/** The decoder for a Content-Type. @throws ApiError UNSUPPORTED_MEDIA_TYPE */
export function decoderOf(contentType: string): TextDecoder {
  const [, quoted, plain = quoted] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(contentType) ?? []
  const decoder = plain === undefined ? utf8 : DECODERS.get(plain.toLowerCase())
  if (decoder) return decoder
  throw new ApiError(
    'UNSUPPORTED_MEDIA_TYPE',
    'the charset in Content-Type is not supported: send the body in UTF-8, with charset=utf-8 or without charset',
  )
}

/** @throws ApiError VALIDATION_ERROR */
export function decodeText(bytes: Buffer, decoder: TextDecoder): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw toError({ path: '', code: 'invalid_format', message: 'the body is not valid UTF-8: encode it as UTF-8' }, cause)
  }
}

/** @throws ApiError VALIDATION_ERROR for invalid JSON, reserved names and texts that no encoding can store */
export function parseJson(text: string): unknown {
  // Many clients send a Content-Type without a body.
  if (text === '') return undefined
  const body = fromJson(text)
  const reserved = findReservedName(body)
  if (reserved) {
    const path = shorten(toPath(reserved))
    throw toError({ path, code: 'reserved_name', message: `${path} is a reserved name: leave the field out` })
  }
  const illFormed = findIllFormedText(body)
  if (illFormed) {
    const path = shorten(toPath(illFormed)).toWellFormed()
    const message = `${path || 'the body'} is not well-formed Unicode: it has one half of a surrogate pair. Send the whole character or leave it out`
    throw toError({ path, code: 'invalid_format', message })
  }
  return body
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw toError({ path: '', code: 'invalid_json', message: 'the body is not valid JSON' }, cause)
  }
}

const toError = (problem: Problem, cause?: unknown): ApiError => Object.assign(invalid([problem]), { cause })

const MAX_PATH = 256

/** Keeps the end of a long path, which names the field. */
const shorten = (path: string): string => (path.length <= MAX_PATH ? path : `…${path.slice(-MAX_PATH)}`)
