import { useState } from 'preact/hooks'
import { type ApiKey, api, hasScope, type Schemas, signIn } from '../api/client.ts'
import { Checkbox, Choices, TextField } from '../form/inputs.tsx'
import { formatAge, formatInstant } from '../format/text.ts'
import type { Page } from '../routing/router.ts'
import { ConfirmButton } from '../ui/buttons.tsx'
import { ErrorNote } from '../ui/notes.tsx'
import { Panel, ScrollTable } from '../ui/panel.tsx'
import { ShownOnce, useSecrets } from '../ui/secret.tsx'
import { useAction, useData } from '../ui/use-data.ts'

/** The scopes that a key can grant, without `*`. A scope that is missing or unknown here does not compile. */
const SCOPES = Object.keys({
  'screenshots:read': true,
  'screenshots:write': true,
  'schedules:read': true,
  'schedules:write': true,
  'webhooks:read': true,
  'webhooks:write': true,
  'keys:read': true,
  'keys:write': true,
  'usage:read': true,
} satisfies Record<Exclude<ApiKey['scopes'][number], '*' | 'admin:read'>, true>)

const Keys: Page = ({ session }) => {
  const { value, error, reload } = useData(
    'keys',
    async () => (await api<Schemas['ApiKeyList']>('/keys?limit=500&include_inactive=true')).data.data,
  )
  const { secrets, show, dismiss } = useSecrets('keys')
  const { problem, act: attempt } = useAction()
  const mayWrite = hasScope(session, 'keys:write')
  const act: Act = async (path, options, title) => {
    let hasSession = true
    const isDone = await attempt(async () => {
      const { data } = await api<{ data?: { id?: string; key?: string } }>(path, options)
      const { id, key: text } = data?.data ?? {}
      if (title !== undefined && id !== undefined && text !== undefined) show({ id, title, text })
      if (id !== session.key.id || text === undefined) return
      hasSession = false
      await signIn({ api_key: text })
      hasSession = true
    })
    // A rotation has ended the session. Without a new one, the next request would replace the page and the text on it.
    if (hasSession) await reload()
    return isDone
  }
  const remove = async (id: string) => {
    if (await act(`/keys/${id}`, { method: 'DELETE' })) dismiss(id)
  }
  return (
    <>
      <ShownOnce secrets={secrets} dismiss={dismiss} />
      <ErrorNote error={problem ?? error} />
      {mayWrite ? <NewKey onCreate={(body) => act('/keys', { method: 'POST', body }, `The new API key “${body.name}”.`)} /> : null}
      <Panel title="API keys">
        <ScrollTable head={['Name', 'Text', 'Scopes', 'State', 'Last used', <span class="sr">Actions</span>]}>
          {value?.map((key) => (
            <KeyRow key={key.id} item={key} isOwn={key.id === session.key.id} mayWrite={mayWrite} act={act} remove={remove} />
          ))}
        </ScrollTable>
      </Panel>
    </>
  )
}

function describePolicy({ allowed_hosts, allowed_options, allow_own_markup }: NonNullable<ApiKey['link_policy']>): string {
  const limits = [
    ...(allowed_hosts ? [`hosts ${allowed_hosts.join(', ') || 'none'}`] : []),
    ...(allowed_options ? [`options ${allowed_options.join(', ') || 'none'}`] : []),
    (allow_own_markup ?? allowed_hosts === null) ? 'own markup' : 'no own markup',
  ]
  return `links: ${limits.join('; ')}`
}

function describeCapturePolicy(policy: NonNullable<ApiKey['capture_policy']>): string {
  const { allowed_hosts, allowed_request_hosts, allowed_options, allow_own_content } = policy
  const limits = [
    ...(allowed_hosts ? [`hosts ${allowed_hosts.join(', ') || 'none'}`] : []),
    ...(allowed_request_hosts ? [`request hosts ${allowed_request_hosts.join(', ') || 'none'}`] : []),
    ...(allowed_options ? [`options ${allowed_options.join(', ') || 'none'}`] : []),
    (allow_own_content ?? allowed_hosts === null) ? 'own content' : 'no own content',
  ]
  return `captures: ${limits.join('; ')}`
}

/** Tests a URL against the capture policy of a key, without a capture. */
function UrlCheck({ id, name }: Pick<ApiKey, 'id' | 'name'>) {
  const [url, setUrl] = useState('')
  const [result, setResult] = useState('')
  const { problem, act } = useAction()
  const submit = (event: Event) => {
    event.preventDefault()
    return act(async () => {
      const { data } = await api<Schemas['KeyUrlChecked']>(`/keys/${id}/check-url`, { method: 'POST', body: { url } })
      setResult(data.data.reason ?? 'The policy allows this URL.')
    })
  }
  return (
    <form class="toolbar" onSubmit={submit}>
      <TextField id={`check-${id}`} label={`URL to test for ${name}`} required value={url} onText={setUrl} />
      <button type="submit" class="plain">
        Test URL
      </button>
      <ErrorNote error={problem} />
      <output class="soft">{result}</output>
    </form>
  )
}

/** Returns whether the request succeeded. */
type Act = (path: string, options: { method: string; body?: unknown }, title?: string) => Promise<boolean>

interface KeyRowProps {
  item: ApiKey
  isOwn: boolean
  mayWrite: boolean
  act: Act
  remove: (id: string) => void
}

function KeyRow({ item, isOwn, mayWrite, act, remove }: KeyRowProps) {
  const path = `/keys/${item.id}`
  return (
    <tr>
      <td data-label="Name">
        <strong>{item.name}</strong>
        {isOwn ? <span class="count">this session</span> : null}
        <div class="soft mono">{item.id}</div>
      </td>
      <td class="mono" data-label="Text">
        {item.key_prefix}…{item.last_four}
        {item.previous_key_expires_at ? <div class="soft">earlier text until {formatInstant(item.previous_key_expires_at)}</div> : null}
      </td>
      <td data-label="Scopes">
        {item.scopes.map((scope) => (scope === '*' ? 'all' : scope)).join(', ')}
        {item.link_policy ? <div class="soft">{describePolicy(item.link_policy)}</div> : null}
        {item.capture_policy ? (
          <>
            <div class="soft">{describeCapturePolicy(item.capture_policy)}</div>
            <UrlCheck id={item.id} name={item.name} />
          </>
        ) : null}
      </td>
      <td data-label="State">
        <span class={`badge ${item.is_active ? 'active' : 'inactive'}`}>{item.is_active ? 'Active' : 'Inactive'}</span>
        {item.expires_at ? <div class="soft">until {formatInstant(item.expires_at)}</div> : null}
      </td>
      <td data-label="Last used">{item.last_used_at ? formatAge(item.last_used_at, new Date()) : 'never'}</td>
      <td>
        {mayWrite ? (
          <div class="actions">
            <button
              type="button"
              class="plain"
              aria-label={`${item.is_active ? 'Deactivate' : 'Activate'} ${item.name}`}
              onClick={() => act(path, { method: 'PATCH', body: { is_active: !item.is_active } })}
            >
              {item.is_active ? 'Deactivate' : 'Activate'}
            </button>
            <ConfirmButton
              isPlain
              label="Rotate"
              name={`Rotate ${item.name}`}
              title={`Rotate ${item.name}?`}
              text={`The key gets a new text. The current text stays valid for 24 hours. ${isOwn ? 'Other sessions' : 'Sessions'} of the console with this key end now.`}
              onConfirm={() =>
                act(`${path}/rotate`, { method: 'POST', body: { overlap_hours: 24 } }, `The new text of the key “${item.name}”.`)
              }
            />
            <ConfirmButton
              isPlain
              label="Delete"
              name={`Delete ${item.name}`}
              title={`Delete ${item.name}?`}
              text={
                isOwn ? 'This is the key of your session. You will be signed out.' : 'Requests with this key are refused within seconds.'
              }
              onConfirm={() => remove(item.id)}
            />
          </div>
        ) : null}
      </td>
    </tr>
  )
}

const toHosts = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

function NewKey({ onCreate }: { onCreate: (body: { name: string }) => Promise<unknown> }) {
  const [name, setName] = useState('')
  const [days, setDays] = useState('')
  const [scopes, setScopes] = useState<readonly string[]>(['screenshots:read', 'screenshots:write'])
  const [isAll, setAll] = useState(false)
  const [hosts, setHosts] = useState('')
  const [hasMarkup, setMarkup] = useState(false)
  const [captureHosts, setCaptureHosts] = useState('')
  const [hasContent, setContent] = useState(false)
  const allowedHosts = toHosts(hosts)
  const allowedCaptureHosts = toHosts(captureHosts)
  const isCaptureLimited = allowedCaptureHosts.length > 0
  const isLimited = allowedHosts.length > 0
  const submit = async (event: Event) => {
    event.preventDefault()
    const expiry = days === '' ? {} : { expires_in_days: Number(days) }
    const links = isLimited ? { link_policy: { allowed_hosts: allowedHosts, allow_own_markup: hasMarkup } } : {}
    const captures = isCaptureLimited ? { capture_policy: { allowed_hosts: allowedCaptureHosts, allow_own_content: hasContent } } : {}
    await onCreate({ name: name.trim(), ...(isAll ? {} : { scopes }), ...expiry, ...links, ...captures })
    setName('')
  }
  return (
    <Panel title="Create a key">
      <form onSubmit={submit}>
        <div class="toolbar">
          <TextField id="key-name" label="Name" required maxLength={100} placeholder="deploy pipeline" value={name} onText={setName} />
          <TextField
            {...{ id: 'key-days', label: 'Days until it expires', type: 'number' as const, value: days, onText: setDays }}
            min={1}
            max={3650}
            placeholder="never"
          />
        </div>
        <Choices legend="Scopes" values={SCOPES} chosen={isAll ? SCOPES : scopes} isDisabled={isAll} onChoose={setScopes}>
          <Checkbox isChecked={isAll} onCheck={setAll}>
            all
          </Checkbox>
        </Choices>
        <div class="toolbar">
          <TextField
            {...{ id: 'key-hosts', label: 'Hosts that its signed links may capture', value: hosts, onText: setHosts }}
            placeholder="all, or a list such as example.com *.example.com"
          />
          <Checkbox isChecked={!isLimited || hasMarkup} isDisabled={!isLimited} onCheck={setMarkup}>
            links may have own markup, such as html and styles
          </Checkbox>
        </div>
        <div class="toolbar">
          <TextField
            {...{ id: 'key-capture-hosts', label: 'Hosts that the key may capture', value: captureHosts, onText: setCaptureHosts }}
            placeholder="all, or a list such as example.com *.example.com"
          />
          <Checkbox isChecked={!isCaptureLimited || hasContent} isDisabled={!isCaptureLimited} onCheck={setContent}>
            captures may have own content, such as html, scripts and a proxy
          </Checkbox>
        </div>
        <button type="submit" class="primary" disabled={name.trim() === '' || (!isAll && scopes.length === 0)}>
          Create key
        </button>
      </form>
    </Panel>
  )
}

export default Keys
