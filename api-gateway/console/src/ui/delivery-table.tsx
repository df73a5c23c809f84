import type { ComponentChildren } from 'preact'
import type { Collection } from '../api/captures.ts'
import type { Delivery } from '../api/client.ts'
import { formatInstant, formatMilliseconds } from '../format/text.ts'
import { StatusBadge } from './notes.tsx'

interface DeliveryTableProps {
  deliveries: readonly Delivery[]
  /** Controls of a delivery. */
  children?: (delivery: Delivery) => ComponentChildren
}

/** Events of videos begin with `video.`. */
const subjectOf = ({ event_type: type }: Delivery): Collection => (type.startsWith('video.') ? 'videos' : 'screenshots')

/** Deliveries with their attempts. Responses of receivers are shown as text only. */
export function DeliveryTable({ deliveries, children }: DeliveryTableProps) {
  return (
    <div class="deliveries">
      {deliveries.map((delivery) => (
        <details key={delivery.id}>
          <summary>
            <StatusBadge status={delivery.status} /> {delivery.event_type}{' '}
            <span class="soft">
              {delivery.last_status_code === 0 ? 'no response' : `HTTP ${delivery.last_status_code}`} ·{' '}
              {formatInstant(delivery.last_attempt_at)}
            </span>
          </summary>
          <div class="fields">
            {delivery.attempts.map(({ number, at, duration_ms, status_code, error, error_message, response_body }) => (
              <div key={at}>
                <p class="small">
                  Attempt {number} · {formatInstant(at)} · {formatMilliseconds(duration_ms)} ·{' '}
                  {status_code === 0 ? (error ?? 'no response') : `HTTP ${status_code}`}
                </p>
                {error_message ? <p class="problem">{error_message}</p> : null}
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the block scrolls, so the keyboard must be able to reach it */}
                {response_body ? <pre tabIndex={0}>{response_body}</pre> : null}
              </div>
            ))}
            <p class="small">
              <a href={`#/${subjectOf(delivery)}/${delivery.screenshot_id}`}>{delivery.screenshot_id}</a>
            </p>
            {children?.(delivery)}
          </div>
        </details>
      ))}
    </div>
  )
}
