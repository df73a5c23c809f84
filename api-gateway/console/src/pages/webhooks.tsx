import { EVENT_TYPES } from '@tintype/crds/schema/event-types'
import { useRef, useState } from 'preact/hooks'
import { api, type Delivery, hasScope, type Schemas, type Session, type Webhook } from '../api/client.ts'
import { toSentence } from '../form/fields.ts'
import { Choices, Select, TextField } from '../form/inputs.tsx'
import { formatAge, formatMilliseconds, formatNumber, STATUS_TITLES } from '../format/text.ts'
import { DeliveryTable } from '../record/deliveries.tsx'
import { navigate, type Page } from '../routing/router.ts'
import { ConfirmButton } from '../ui/buttons.tsx'
import { ErrorNote, Missing, Note } from '../ui/notes.tsx'
import { Crumb, Fact, Panel } from '../ui/panel.tsx'
import { ShownOnce, useSecrets } from '../ui/secret.tsx'
import { useAction, useData } from '../ui/use-data.ts'

const REFRESH_MILLISECONDS = 10_000
const DELIVERIES_STEP = 50
/** The log has at most the last 500 attempts. */
const MAX_DELIVERIES = 500

type Found = Schemas['WebhookFound']['data']
type TestResult = Schemas['WebhookTestResult']

const Webhooks: Page = ({ session, parts: [id] }) =>
  id === undefined ? <WebhookList session={session} /> : <WebhookPage id={id} session={session} />

const stateOf = ({ is_active, disabled_reason }: Webhook): string =>
  is_active ? 'Active' : disabled_reason === null ? 'Inactive' : 'Deactivated after failures'

function WebhookList({ session }: { session: Session }) {
  const { value, error, reload } = useData(
    'webhooks',
    async () => (await api<Schemas['WebhookList']>('/webhooks?limit=500&include_inactive=true')).data.data,
  )
  const { secrets, show, dismiss } = useSecrets('webhooks')
  const { problem, act } = useAction()
  const create = (body: object): Promise<boolean> =>
    act(async () => {
      const { data } = await api<Schemas['WebhookCreated']>('/webhooks', { method: 'POST', body })
      const { id, name, signing_secret: text } = data.data
      if (text !== undefined) show({ id, title: `The signing secret of “${name}”.`, text })
      await reload()
    })
  return (
    <>
      <ShownOnce secrets={secrets} dismiss={dismiss} />
      <ErrorNote error={problem ?? error} />
      {hasScope(session, 'webhooks:write') ? <NewWebhook onCreate={create} /> : null}
      <Panel title="Endpoints">
        {value?.length === 0 ? <p class="empty">No endpoint yet.</p> : null}
        <ul class="plain-list rows">
          {value?.map((webhook) => (
            <li key={webhook.id}>
              <a href={`#/webhooks/${webhook.id}`}>{webhook.name}</a>
              <span class="soft wrap">{webhook.is_default ? 'signs deliveries to webhook_url' : webhook.url}</span>
              <span class={`badge ${webhook.is_active ? 'active' : 'inactive'}`}>{stateOf(webhook)}</span>
            </li>
          ))}
        </ul>
      </Panel>
    </>
  )
}

function NewWebhook({ onCreate }: { onCreate: (body: object) => Promise<boolean> }) {
  const [name, setName] = useState('')
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState<readonly string[]>(['screenshot.completed', 'screenshot.failed'])
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!(await onCreate({ name: name.trim(), url: url.trim(), events }))) return
    setName('')
    setUrl('')
  }
  return (
    <Panel title="Create an endpoint">
      <form onSubmit={submit}>
        <div class="toolbar">
          <TextField id="webhook-name" label="Name" required maxLength={100} placeholder="billing" value={name} onText={setName} />
          <TextField
            {...{ id: 'webhook-url', label: 'URL', type: 'url' as const, value: url, onText: setUrl }}
            required
            pattern="https://.*"
            problem="The URL must start with https://."
            placeholder="https://hooks.example.com/in"
          />
        </div>
        <Choices legend="Events" values={EVENT_TYPES} chosen={events} onChoose={setEvents} />
        <button type="submit" class="primary" disabled={name.trim() === '' || url.trim() === '' || events.length === 0}>
          Create endpoint
        </button>
      </form>
    </Panel>
  )
}

function WebhookPage({ id, session }: { id: string; session: Session }) {
  const path = `/webhooks/${encodeURIComponent(id)}`
  const [status, setStatus] = useState('')
  const { secrets, show, dismiss } = useSecrets('webhooks')
  const [result, setResult] = useState<TestResult>()
  const { problem, act: attempt } = useAction()
  const [notice, setNotice] = useState('')
  const { value, error, reload } = useData(id, async () => (await api<Schemas['WebhookFound']>(path)).data.data, REFRESH_MILLISECONDS)
  const [limit, setLimit] = useState(DELIVERIES_STEP)
  const log = useData(
    `${id}/${status}/${limit}`,
    async () => (await api<Schemas['DeliveryList']>(`${path}/deliveries?limit=${limit}${status === '' ? '' : `&status=${status}`}`)).data,
    REFRESH_MILLISECONDS,
  )
  // While more are read, those of before stay.
  const shown = useRef<readonly Delivery[]>([])
  shown.current = log.value?.data ?? (log.error ? [] : shown.current)
  const act = (work: () => Promise<unknown>) => {
    setNotice('')
    return attempt(work)
  }
  const test = () => act(async () => setResult((await api<TestResult>(`${path}/test`, { method: 'POST' })).data))
  const rotate = () =>
    act(async () => {
      const { data } = await api<Schemas['SigningSecretRotated']>(`${path}/rotate-secret`, { method: 'POST', body: { overlap_hours: 24 } })
      show({ id, title: `The new signing secret of “${value?.name}”.`, text: data.data.signing_secret })
    })
  const toggle = (isActive: boolean) =>
    act(async () => {
      await api(path, { method: 'PATCH', body: { is_active: isActive } })
      await reload()
    })
  const redeliver = (delivery: string) =>
    act(async () => {
      await api(`${path}/deliveries/${delivery}/redeliver`, { method: 'POST' })
      setNotice('The operator posts the event once more.')
      await log.reload()
    })
  const redeliverMissed = () =>
    act(async () => {
      await api(`${path}/redeliver-missed`, { method: 'POST' })
      setNotice('The operator posts the missed events once more.')
      await reload()
    })
  const remove = () =>
    act(async () => {
      await api(path, { method: 'DELETE' })
      dismiss(id)
      navigate('webhooks')
    })
  if (!value) return <Missing error={error} />
  const mayWrite = hasScope(session, 'webhooks:write')
  return (
    <>
      <Crumb path="webhooks" title="Webhooks" />
      <div class="panel-head">
        <h2 class="title wrap">{value.name}</h2>
        <span class={`badge ${value.is_active ? 'active' : 'inactive'}`}>{stateOf(value)}</span>
        {mayWrite ? (
          <div class="actions">
            {value.is_default ? null : (
              <button type="button" onClick={test}>
                Send a test
              </button>
            )}
            <button type="button" onClick={() => toggle(!value.is_active)}>
              {value.is_active ? 'Deactivate' : 'Activate'}
            </button>
            <ConfirmButton
              label="Rotate secret"
              title="Rotate the signing secret?"
              text="Events are signed with both secrets for 24 hours, then only with the new one."
              onConfirm={rotate}
            />
            <ConfirmButton
              label="Delete"
              title={`Delete ${value.name}?`}
              text="No further event is posted to this endpoint."
              onConfirm={remove}
            />
          </div>
        ) : null}
      </div>
      <ShownOnce secrets={secrets.filter((secret) => secret.id === id)} dismiss={dismiss} />
      <ErrorNote error={problem} />
      {notice ? <Note kind="good">{notice}</Note> : null}
      {value.is_active && value.statistics.missed_deliveries > 0 ? (
        <Note kind={value.statistics.consecutive_failures === 0 ? 'good' : 'error'}>
          {describeMissed(value.statistics)}{' '}
          {mayWrite ? (
            <button type="button" onClick={redeliverMissed}>
              Deliver missed events
            </button>
          ) : null}
        </Note>
      ) : null}
      {value.disabled_reason ? <Note kind="error">{toSentence(value.disabled_reason)}</Note> : null}
      {result ? (
        <Note kind={result.success ? 'good' : 'error'}>
          {result.message}: {result.status_code === 0 ? (result.error ?? 'no response') : `HTTP ${result.status_code}`} in{' '}
          {formatMilliseconds(result.response_time_ms)}.
        </Note>
      ) : null}
      <Health webhook={value} />
      <Panel
        title="Deliveries of the last seven days"
        beside={
          <Select
            aria-label="State"
            value={status}
            options={[['', 'All'], ...['pending', 'successful', 'failed'].map((one) => [one, STATUS_TITLES[one] ?? one] as const)]}
            onChoose={setStatus}
          />
        }
      >
        <ErrorNote error={log.error} />
        {log.value?.data.length === 0 ? <p class="empty">No deliveries.</p> : null}
        <DeliveryTable deliveries={shown.current} url={value.url}>
          {({ id: delivery, event_type }) =>
            mayWrite ? (
              <button type="button" onClick={() => redeliver(delivery)} aria-label={`Deliver again: ${event_type}`}>
                Deliver again
              </button>
            ) : null
          }
        </DeliveryTable>
        {log.value?.pagination.has_more && limit < MAX_DELIVERIES ? (
          <p class="center">
            <button type="button" onClick={() => setLimit(Math.min(MAX_DELIVERIES, limit + DELIVERIES_STEP))}>
              Show more deliveries
            </button>
          </p>
        ) : null}
      </Panel>
    </>
  )
}

/** An endpoint that still fails would miss them again. */
const describeMissed = ({ missed_deliveries: missed, consecutive_failures: failures }: Found['statistics']): string =>
  `${missed} ${missed === 1 ? 'event was' : 'events were'} not delivered. ${failures === 0 ? 'The endpoint responds again.' : 'The endpoint still fails.'}`

function Health({ webhook: { url, events, is_default, statistics, signing_secret_hint } }: { webhook: Found }) {
  const { success_rate, average_response_time_ms: time, total_deliveries, pending_deliveries } = statistics
  const age = (instant: string | null) => (instant === null ? 'never' : formatAge(instant, new Date()))
  return (
    <Panel title="Health">
      <dl class="facts">
        <Fact name="URL">{!is_default && url}</Fact>
        <Fact name="Events">{events.join(', ')}</Fact>
        <Fact name="Deliveries">{`${formatNumber(total_deliveries)}, ${formatNumber(pending_deliveries)} pending`}</Fact>
        <Fact name="Success">{success_rate === null ? 'no deliveries yet' : `${success_rate} %`}</Fact>
        <Fact name="Response time">{time === null ? 'unknown' : formatMilliseconds(time)}</Fact>
        <Fact name="Last success">{age(statistics.last_success_at)}</Fact>
        <Fact name="Last failure">{age(statistics.last_failure_at)}</Fact>
        <Fact name="Failures in a row">{formatNumber(statistics.consecutive_failures)}</Fact>
        <Fact name="Signing secret">{signing_secret_hint ?? 'none'}</Fact>
      </dl>
    </Panel>
  )
}

export default Webhooks
