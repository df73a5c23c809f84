import { useState } from 'preact/hooks'
import { type Capture, isVideo } from '../api/client.ts'
import { toPictureUrl } from '../format/pictures.ts'
import { formatBytes, formatMilliseconds } from '../format/text.ts'

/** What is shown in the page. Other formats are only links. */
const kindOf = ({ content_type: type }: Capture): 'picture' | 'video' | 'other' => {
  if (type.startsWith('image/')) return 'picture'
  return type.startsWith('video/') ? 'video' : 'other'
}

const describe = (shot: Capture): string =>
  [
    shot.width && shot.height ? `${shot.width} × ${shot.height}` : '',
    isVideo(shot) && shot.duration_ms !== null ? `${formatMilliseconds(shot.duration_ms)}, ${shot.fps} frames a second` : '',
    shot.file_size_bytes === null ? '' : formatBytes(shot.file_size_bytes),
    shot.format,
  ]
    .filter(Boolean)
    .join(' · ')

/** The file of a completed capture: the picture with zoom, the video with controls, or a link for formats that browsers do not show in a page. */
export function Picture({ shot }: { shot: Capture }) {
  const [isActualSize, setActualSize] = useState(false)
  const [isBroken, setBroken] = useState(false)
  const source = toPictureUrl(shot.download_url)
  if (source === undefined) return <p class="empty">The file has expired.</p>
  const kind = isBroken ? 'broken' : kindOf(shot)
  const size = { width: shot.width ?? undefined, height: shot.height ?? undefined }
  const title = `${isVideo(shot) ? 'Video' : 'Capture'} of ${shot.url}`
  return (
    <figure class="picture">
      {kind === 'picture' ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the frame scrolls, so the keyboard must be able to reach it
        <section class={`frame ${isActualSize ? 'actual' : 'fit'}`} aria-label="Picture" tabIndex={0}>
          <img src={source} alt={title} {...size} referrerpolicy="no-referrer" onError={() => setBroken(true)} />
        </section>
      ) : null}
      {kind === 'video' ? (
        <video
          class="player"
          src={source}
          aria-label={title}
          poster={toPictureUrl(shot.artifacts.find(({ type }) => type === 'poster')?.download_url ?? null)}
          {...size}
          controls
          loop
          muted
          playsInline
          preload="metadata"
          onError={() => setBroken(true)}
        />
      ) : null}
      {kind === 'other' ? <p class="empty">Browsers show this format in a tab of its own.</p> : null}
      {kind === 'broken' ? <p class="empty">The browser cannot show the file.</p> : null}
      <figcaption>
        <span>{describe(shot)}</span>
        {kind === 'picture' ? (
          <button type="button" class="plain" aria-pressed={isActualSize} onClick={() => setActualSize(!isActualSize)}>
            Actual size
          </button>
        ) : null}
        <a href={source} target="_blank" rel="noreferrer">
          Open file
        </a>
        {/* A link of another origin opens instead: browsers ignore `download` there. */}
        <a href={source} target="_blank" rel="noreferrer" download>
          Download
        </a>
      </figcaption>
    </figure>
  )
}
