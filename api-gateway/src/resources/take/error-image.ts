import type { HttpError } from '../../common/errors.ts'
import { ERROR_IMAGES } from './generated/error-images.ts'

// Browsers show the picture of a response whatever its status, so a page shows the code of the error in place of the picture.

/** True when the query asks for pictures of errors. Also for queries that are not valid otherwise. */
export const wantsErrorImage = (query: string): boolean => new URLSearchParams(query).get('on_error') === 'image'

/** A failed capture has a code of its own, which says more. */
function codeOf({ code, details }: Pick<HttpError, 'code' | 'details'>): string {
  const inner = code === 'CAPTURE_FAILED' && details !== undefined && 'code' in details ? String(details.code) : code
  return Object.hasOwn(ERROR_IMAGES, inner) ? inner : code
}

/** The PNG picture of an error. */
export const toErrorImage = (error: Pick<HttpError, 'code' | 'details'>): Buffer => Buffer.from(ERROR_IMAGES[codeOf(error)] ?? '', 'base64')
