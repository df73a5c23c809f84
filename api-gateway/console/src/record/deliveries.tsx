import { useState } from 'preact/hooks'
import { api, type Delivery, hasScope, type Schemas, type Session, type Webhook } from '../api/client.ts'
import { DeliveryTable } from '../ui/delivery-table.tsx'
import { ErrorNote } from '../ui/notes.tsx'
import { Panel } from '../ui/panel.tsx'

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
  const [error, setError] = useState<unknown>()
  if (!hasScope(session, 'webhooks:read')) return null
  const read = () => readDeliveries(id).then(setFound, setError)
  return (
    <Panel
      title="Deliveries"
      beside={
        <button type="button" class="plain" onClick={read}>
          {found ? 'Read again' : 'Show'}
        </button>
      }
    >
      <ErrorNote error={error} />
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
