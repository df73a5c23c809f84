import { isMoving } from '@tintype/crds/options/output/formats'
import type { RequestedOptions } from '../../../creation/build.ts'

// Administrators can give every screenshot of the REST API a thumbnail, so that lists load small files.

/** Height of a thumbnail as a share of its width. A thumbnail of a long page shows its top. */
const HEIGHT_SHARE = 0.75

/**
 * Adds a WebP thumbnail to the request, unless it asks for one itself, or has a format without thumbnails.
 * @param width in pixels; 0: nothing is added
 */
export function withDefaultThumbnail<T extends RequestedOptions>(request: T, width: number): T {
  const { format, thumbnailWidth, thumbnailHeight, thumbnailFormat } = request.options ?? {}
  const isAsked = thumbnailWidth !== undefined || thumbnailHeight !== undefined || thumbnailFormat !== undefined
  if (width === 0 || isAsked || format === 'pdf' || isMoving(format)) return request
  const thumbnail = {
    thumbnailWidth: width,
    thumbnailHeight: Math.max(16, Math.round(width * HEIGHT_SHARE)),
    thumbnailFormat: 'webp' as const,
  }
  return { ...request, options: { ...request.options, ...thumbnail } }
}
