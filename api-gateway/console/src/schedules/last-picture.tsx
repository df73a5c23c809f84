import { useEffect, useRef, useState } from 'preact/hooks'
import { type Capture, recordPath } from '../api/captures.ts'
import { api } from '../api/client.ts'
import { isMoving } from '../form/fields.ts'
import { toCard } from '../list/card.ts'
import type { Schedule } from './body.ts'

/** The picture of the last completed run. It is read once its row is in the window: an account may have hundreds of schedules. */
export function LastPicture({ schedule: { name, options, recent_runs: runs } }: { schedule: Schedule }) {
  const place = useRef<HTMLSpanElement>(null)
  const [url, setUrl] = useState<string>()
  const id = runs.find(({ status }) => status === 'completed')?.id
  const collection = isMoving(String(options.format)) ? 'videos' : 'screenshots'
  useEffect(() => {
    const control = new AbortController()
    const observer = new IntersectionObserver((entries) => {
      if (id === undefined || !entries.some(({ isIntersecting }) => isIntersecting)) return
      observer.disconnect()
      api<Capture>(recordPath(collection, id), { signal: control.signal }).then(
        ({ data }) => {
          const { preview } = toCard(data)
          setUrl(preview?.kind === 'picture' ? preview.url : undefined)
        },
        () => setUrl(undefined),
      )
    })
    if (place.current) observer.observe(place.current)
    return () => {
      control.abort()
      observer.disconnect()
    }
  }, [collection, id])
  return (
    <span class="small-picture" ref={place}>
      {url === undefined ? null : <img src={url} alt={`Last run of ${name}`} decoding="async" referrerpolicy="no-referrer" />}
    </span>
  )
}
