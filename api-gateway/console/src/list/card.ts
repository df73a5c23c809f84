import { type Capture, type Collection, collectionOf, isVideo } from '../api/client.ts'
import { formatShare, toPictureUrl, toSafeLink } from '../format/pictures.ts'
import { formatMilliseconds } from '../format/text.ts'

/** What a card shows of a capture. Lists keep thousands of them, and a whole record is several times as large. */
export interface Card {
  id: string
  collection: Collection
  status: Capture['status']
  title: string
  url: string
  /** What distinguishes it from others with the same title: size, format and path. */
  detail: string
  created_at: string
  preview: Preview | undefined
  /** Shown if there is no preview. */
  note: string
  /** What stands out: the changed part of a comparison, or an error status of the page. */
  notice: string | undefined
  /** Length of a video. */
  length: string | undefined
}

/** What a card shows of a file. */
interface Preview {
  kind: 'picture' | 'video'
  url: string
}

/** The smallest picture of a capture: its thumbnail, the first frame of a video, or the file itself. */
function previewOf(capture: Capture): Preview | undefined {
  if (capture.status !== 'completed') return undefined
  const small = capture.artifacts.find(({ type }) => type === 'thumbnail' || type === 'poster')
  const url = toPictureUrl(small ? small.download_url : capture.download_url)
  if (url === undefined) return undefined
  if (small || capture.content_type.startsWith('image/')) return { kind: 'picture', url }
  return capture.content_type.startsWith('video/') ? { kind: 'video', url } : undefined
}

function describe({ width, height, format, url }: Capture): string {
  const size = width && height ? `${width} × ${height} ` : ''
  const link = toSafeLink(url)
  const { pathname, search, hash } = new URL(link ?? 'about:blank')
  return `${size}${format}${link === undefined ? '' : ` · ${pathname}${search}${hash}`}`
}

export function toCard(capture: Capture): Card {
  const comparison = isVideo(capture) ? null : capture.comparison
  const status = capture.metadata?.http_status ?? 0
  const httpError = status < 400 ? undefined : `HTTP ${status}`
  return {
    id: capture.id,
    collection: collectionOf(capture),
    status: capture.status,
    title: capture.metadata?.page_title || capture.url,
    url: capture.url,
    detail: describe(capture),
    created_at: capture.created_at,
    preview: previewOf(capture),
    note: capture.status === 'completed' ? capture.format : (capture.error?.code ?? 'Waiting'),
    notice: comparison?.changed ? `Changed ${formatShare(comparison.changed_ratio ?? 0)}` : httpError,
    length: isVideo(capture) && capture.duration_ms !== null ? formatMilliseconds(capture.duration_ms) : undefined,
  }
}
