import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { api, type Collection, type Delivery, hasScope, type Schemas, type Session, type Webhook } from '../api/client.ts'
import { toSentence } from '../form/fields.ts'
import { formatInstant, formatMilliseconds } from '../format/text.ts'
import { ErrorNote, StatusBadge } from '../ui/notes.tsx'
import { Fact, Panel } from '../ui/panel.tsx'
import { useAction } from '../ui/use-data.ts'

interface Found {
  webhook: Webhook
  deliveries: readonly Delivery[]
}

async function readDeliveries(id: string): Promise<Found[]> {
  const { data } = await api<Schemas['WebhookList']>('/webhooks?include_inactive=true')
  const read = async (webhook: Webhook): Promise<Found> => ({
    webhook,
    deliveries: (await api<Schemas['DeliveryList']>(`/webhooks/${webhook.id}/deliveries?screenshot_id=${id}`)).data.data,
  })
  return (await Promise.all(data.data.map(read))).filter(({ deliveries }) => deliveries.length > 0)
}

/** Deliveries of the events of a capture. They are read when somebody asks, because each webhook has a log of its own. */
export function RecordDeliveries({ id, session }: { id: string; session: Session }) {
  const [found, setFound] = useState<readonly Found[]>()
  const { problem, act } = useAction()
  if (!hasScope(session, 'webhooks:read')) return null
  const read = () => act(async () => setFound(await readDeliveries(id)))
  return (
    <Panel
      title="Deliveries"
      beside={
        <button type="button" class="plain" onClick={read}>
          {found ? 'Read again' : 'Show'}
        </button>
      }
    >
      <ErrorNote error={problem} />
      {found?.length === 0 ? <p class="soft">No webhook has received an event of this record in the last seven days.</p> : null}
      {found?.map(({ webhook, deliveries }) => (
        <div key={webhook.id}>
          <h3>{webhook.name}</h3>
          <DeliveryTable deliveries={deliveries} url={webhook.url} />
        </div>
      ))}
    </Panel>
  )
}

interface DeliveryTableProps {
  deliveries: readonly Delivery[]
  /** URL of the endpoint, if it has one. Each request with a `webhook_url` has its own. */
  url?: string | null | undefined
  /** Controls of a delivery. */
  children?: (delivery: Delivery) => ComponentChildren
}

/** Kinds of failures without a response, in words. */
const FAILURES: Readonly<Record<string, string>> = {
  timeout: 'no response in time',
  blocked: 'the address is not allowed',
  unresolved: 'the host name does not resolve',
  tls: 'the TLS connection failed',
  proxy: 'the proxy failed',
  oversized: 'the response is too large',
  connection: 'the connection failed',
}

/** Events of videos begin with `video.`. */
const subjectOf = ({ event_type: type }: Delivery): Collection => (type.startsWith('video.') ? 'videos' : 'screenshots')

/** Deliveries with their attempts. Responses of receivers are shown as text only. */
export function DeliveryTable({ deliveries, url, children }: DeliveryTableProps) {
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
                  {status_code === 0 ? (FAILURES[error ?? ''] ?? error ?? 'no response') : `HTTP ${status_code}`}
                </p>
                {error_message ? <p class="problem">{toSentence(error_message)}</p> : null}
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the block scrolls, so the keyboard must be able to reach it */}
                {response_body ? <pre tabIndex={0}>{response_body}</pre> : null}
              </div>
            ))}
            <dl class="facts small">
              <Fact name="Event" kind="mono">
                {delivery.event_id}
              </Fact>
              <Fact name="Posted to">{url}</Fact>
              <Fact name="Record">
                <a href={`#/${subjectOf(delivery)}/${delivery.screenshot_id}`}>{delivery.screenshot_id}</a>
              </Fact>
            </dl>
            {children?.(delivery)}
          </div>
        </details>
      ))}
    </div>
  )
}
