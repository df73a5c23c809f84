import { useState } from 'preact/hooks'
import type { Screenshot } from '../api/client.ts'
import { toPictureUrl } from '../format/picture-url.ts'
import { formatBytes } from '../format/text.ts'

/** The file of a completed capture: the picture with zoom, or a link for formats that browsers do not show in a page. */
export function Picture({ shot }: { shot: Screenshot }) {
  const [isActualSize, setActualSize] = useState(false)
  const [isBroken, setBroken] = useState(false)
  const source = toPictureUrl(shot.download_url)
  if (source === undefined) return <p class="empty">The file has expired.</p>
  const size = shot.width && shot.height ? `${shot.width} × ${shot.height}` : ''
  const facts = [size, shot.file_size_bytes === null ? '' : formatBytes(shot.file_size_bytes), shot.format].filter(Boolean).join(' · ')
  const isPicture = shot.content_type.startsWith('image/')
  return (
    <figure class="picture">
      {isPicture && !isBroken ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the frame scrolls, so the keyboard must be able to reach it
        <section class={`frame ${isActualSize ? 'actual' : 'fit'}`} aria-label="Picture" tabIndex={0}>
          <img
            src={source}
            alt={`Capture of ${shot.url}`}
            width={shot.width ?? undefined}
            height={shot.height ?? undefined}
            referrerpolicy="no-referrer"
            onError={() => setBroken(true)}
          />
        </section>
      ) : (
        <p class="empty">{isBroken ? 'The picture cannot be loaded.' : 'Browsers show this format in a tab of its own.'}</p>
      )}
      <figcaption>
        <span>{facts}</span>
        {isPicture && !isBroken ? (
          <button type="button" class="plain" aria-pressed={isActualSize} onClick={() => setActualSize(!isActualSize)}>
            Actual size
          </button>
        ) : null}
        <a href={source} target="_blank" rel="noreferrer">
          Open file
        </a>
      </figcaption>
    </figure>
  )
}
