import { useState } from 'preact/hooks'
import { signLink } from '../../../client/src/link/sign.ts'
import { api, hasScope, type Session } from '../api/client.ts'
import { Select } from '../form/inputs.tsx'
import { CopyButton } from '../ui/buttons.tsx'
import { ErrorNote, Note } from '../ui/notes.tsx'
import { useAction } from '../ui/use-data.ts'
import { toCommand, toCurl, toLinkParameters, toManifest, toTypeScript } from './snippets.ts'

/** URL of the service for commands and code. */
const serviceUrl = (): string => new URL('.', document.baseURI).href.replace(/\/$/, '')

interface Body {
  url?: string
  options: Record<string, unknown>
}

const TABS = ['curl', 'tintype', 'TypeScript', 'kubectl', 'Signed link'] as const
type Tab = (typeof TABS)[number]

const leftNote = (left: readonly string[], what: string): string => (left.length === 0 ? '' : `${what}: ${left.join(', ')}.`)

/** The capture as a command, as code, as a manifest and as a link. */
export function SnippetTabs({ body, session }: { body: Body; session: Session }) {
  const [tab, setTab] = useState<Tab>('curl')
  const base = serviceUrl()
  const manifest = toManifest(body, session.account)
  const command = toCommand(base, body)
  const texts: Record<Exclude<Tab, 'Signed link'>, { text: string; note: string }> = {
    curl: { text: toCurl(base, body), note: '' },
    tintype: { text: command.text, note: leftNote(command.left, 'The command line does not have these options') },
    TypeScript: { text: toTypeScript(base, body), note: '' },
    kubectl: {
      text: manifest.text,
      note: leftNote(manifest.left, 'A manifest cannot have these options (see privateOptionsSecretRef for secrets)'),
    },
  }
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    const next = TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length]!
    setTab(next)
    document.getElementById(`tab-${TABS.indexOf(next)}`)?.focus()
  }
  return (
    <section class="panel snippets" aria-label="Copy as">
      <div role="tablist" aria-label="Copy as" onKeyDown={move}>
        {TABS.map((one, index) => (
          <button
            key={one}
            id={`tab-${index}`}
            type="button"
            role="tab"
            aria-selected={one === tab}
            aria-controls="snippet"
            tabIndex={one === tab ? 0 : -1}
            onClick={() => setTab(one)}
          >
            {one}
          </button>
        ))}
      </div>
      <div id="snippet" role="tabpanel" aria-labelledby={`tab-${TABS.indexOf(tab)}`}>
        {tab === 'Signed link' ? <LinkSnippet body={body} session={session} /> : <TextSnippet {...texts[tab]} />}
      </div>
    </section>
  )
}

function TextSnippet({ text, note }: { text: string; note: string }) {
  return (
    <>
      {note ? <p class="help">{note}</p> : null}
      <div class="code">
        <CopyButton text={text} />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the block scrolls, so the keyboard must be able to reach it */}
        <pre tabIndex={0}>{text}</pre>
      </div>
    </>
  )
}

const DAY_SECONDS = 86_400

/** When a link ends, in seconds from its signature. 0: never. */
const ENDS: Readonly<Record<string, number>> = {
  never: 0,
  'in 1 hour': 3_600,
  'in 1 day': DAY_SECONDS,
  'in 7 days': 7 * DAY_SECONDS,
  'in 30 days': 30 * DAY_SECONDS,
}

/** The link is signed in the browser. The secret is read when it is needed, and not kept. */
function LinkSnippet({ body, session }: { body: Body; session: Session }) {
  const [link, setLink] = useState<{ text: string; of: string }>()
  const [end, setEnd] = useState('never')
  const { problem, act } = useAction()
  const { params, left } = toLinkParameters(body.options)
  const page = body.url === undefined ? {} : { url: body.url }
  const wanted = JSON.stringify([page, params, end])
  if (!hasScope(session, 'keys:write')) return <p class="help">A signed link needs a key with the scope keys:write.</p>
  const sign = () =>
    act(async () => {
      const { data } = await api<{ data: { key: string; link_secret: string } }>(`/keys/${session.key.id}/link-secret`, { method: 'POST' })
      const { key, link_secret: secret } = data.data
      const seconds = ENDS[end] || undefined
      const expires = seconds && Math.floor(Date.now() / 1_000) + seconds
      setLink({ text: await signLink({ baseUrl: serviceUrl(), key, secret, params: { ...page, ...params }, expires }), of: wanted })
    })
  return (
    <>
      <p class="help">
        A link shows the picture without an API key, in pages and emails. It counts for the key <code>{session.key.name}</code>.{' '}
        {leftNote(left, 'A link cannot have these options')}
      </p>
      <p class="help">
        A link without an end never ends. Opening a link starts a new capture if no stored picture is fresh. Each capture counts for the
        quota and the rate limit of the account. A stored picture does not count.
      </p>
      <div class="toolbar">
        <div>
          <label for="link-end">Ends</label>
          <Select id="link-end" value={end} options={Object.keys(ENDS)} onChoose={setEnd} />
        </div>
      </div>
      <ErrorNote error={problem} />
      {link?.of === wanted ? (
        <TextSnippet text={link.text} note="" />
      ) : (
        <button type="button" onClick={sign}>
          {link ? 'Sign the changed link' : 'Sign link'}
        </button>
      )}
      {link && link.of !== wanted ? <Note>The options or the end have changed since the link was signed.</Note> : null}
    </>
  )
}
