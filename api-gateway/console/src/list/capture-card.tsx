import { useState } from 'preact/hooks'
import { type Capture, collectionOf, isVideo } from '../api/captures.ts'
import { formatShare } from '../format/overlay.ts'
import { toPictureUrl } from '../format/picture-url.ts'
import { formatAge, formatInstant, formatMilliseconds } from '../format/text.ts'
import { StatusBadge } from '../ui/notes.tsx'

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

const describe = (capture: Capture): string => {
  if (capture.status === 'completed') return capture.format
  return capture.error?.code ?? 'Waiting'
}

/** A capture in a list. The whole card is a link to its record. `title` replaces the title of the page. */
export function CaptureCard({ shot, title }: { shot: Capture; title?: string }) {
  const [isBroken, setBroken] = useState(false)
  const preview = isBroken ? undefined : previewOf(shot)
  const name = title ?? (shot.metadata?.page_title || shot.url)
  const length = isVideo(shot) && shot.duration_ms !== null ? formatMilliseconds(shot.duration_ms) : undefined
  const comparison = isVideo(shot) ? null : shot.comparison
  const change = comparison?.changed ? formatShare(comparison.changed_ratio ?? 0) : undefined
  const fail = () => setBroken(true)
  return (
    <a class="card" href={`#/${collectionOf(shot)}/${shot.id}`}>
      <span class="thumbnail">
        {preview?.kind === 'picture' ? (
          <img src={preview.url} alt="" loading="lazy" decoding="async" referrerpolicy="no-referrer" onError={fail} />
        ) : null}
        {/* Browsers read only the beginning of the file for its first frame. */}
        {preview?.kind === 'video' ? <video src={preview.url} muted playsInline preload="metadata" tabIndex={-1} onError={fail} /> : null}
        {preview ? null : <span class="soft">{describe(shot)}</span>}
        {change === undefined ? null : <span class="badge changed corner">Changed {change}</span>}
        {length ? <span class="length">{length}</span> : null}
      </span>
      <span class="title">{name}</span>
      <span class="line">
        <StatusBadge status={shot.status} />
        <span class="soft small" title={formatInstant(shot.created_at)}>
          {formatAge(shot.created_at, new Date())}
        </span>
      </span>
    </a>
  )
}
