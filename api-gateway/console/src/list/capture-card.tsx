import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { formatAge, formatInstant } from '../format/text.ts'
import { StatusBadge } from '../ui/notes.tsx'
import type { Card } from './card.ts'

/** A capture in a list. The whole card is a link to its record. `title` replaces the title of the page. */
export function CaptureCard({ card, title = card.title }: { card: Card; title?: string }) {
  const { id, collection, status, url, detail, created_at, note, notice, length } = card
  const [brokenUrl, setBrokenUrl] = useState<string>()
  const preview = card.preview?.url === brokenUrl ? undefined : card.preview
  const fail = () => setBrokenUrl(card.preview?.url)
  return (
    <a class="card" href={`#/${collection}/${id}`}>
      <span class="thumbnail">
        {preview?.kind === 'picture' ? <Thumbnail url={preview.url} onError={fail} /> : null}
        {/* Browsers read only the beginning of the file for its first frame. */}
        {preview?.kind === 'video' ? <video src={preview.url} muted playsInline preload="metadata" tabIndex={-1} onError={fail} /> : null}
        {preview ? null : <span class="soft">{note}</span>}
        {notice === undefined ? null : <span class="badge changed corner">{notice}</span>}
        {length ? <span class="length">{length}</span> : null}
      </span>
      <span class="title">{title}</span>
      <span class="detail" title={url}>
        {detail}
      </span>
      <span class="line">
        <StatusBadge status={status} />
        <span class="soft small" title={formatInstant(created_at)}>
          {formatAge(created_at, new Date())}
        </span>
      </span>
    </a>
  )
}

/** A picture that stops loading when its card leaves the window. Browsers would load it to the end, and keep its elements until then. */
function Thumbnail({ url, onError }: { url: string; onError: () => void }) {
  const image = useRef<HTMLImageElement>(null)
  useLayoutEffect(() => {
    const element = image.current
    return () => element?.removeAttribute('src')
  }, [])
  return <img ref={image} src={url} alt="" decoding="async" referrerpolicy="no-referrer" onError={onError} />
}
