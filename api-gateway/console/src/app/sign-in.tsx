import { useEffect, useRef, useState } from 'preact/hooks'
import { describeCode, type Identity, type Session, signIn } from '../api/client.ts'
import { useClickGuard } from '../ui/buttons.tsx'
import { ErrorNote } from '../ui/notes.tsx'

/** Exchanges an API key for a session. `error` is why an earlier one could not begin or has ended. */
export function SignIn({ error: earlier, onSignedIn }: { error?: unknown; onSignedIn: (session: Session) => void }) {
  const [key, setKey] = useState('')
  const [error, setError] = useState<unknown>(earlier)
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    try {
      onSignedIn(await signIn({ api_key: key.trim() }))
    } catch (problem) {
      setError(problem)
      setBusy(false)
    }
  }
  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <span class="mark large" aria-hidden="true">
          T
        </span>
        <h1>Sign in to Tintype</h1>
        <p class="hint">Your API key is exchanged for a session of 12 hours. The browser does not store the key.</p>
        <ErrorNote error={error} />
        <label for="api-key">API key</label>
        <input
          id="api-key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          placeholder="ttk_…"
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        <button type="submit" class="primary" disabled={isBusy || key.trim() === ''}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </button>
        <p class="hint">
          <a href="docs">API reference</a>
        </p>
      </form>
    </main>
  )
}

interface LinkSignInProps {
  code: string
  /** Session of the browser. */
  current: Session | undefined
  onSignedIn: (session: Session) => void
  onDeclined: () => void
}

const describe = ({ account, key }: Identity): string => `account ${account} as key ${key.name}`

/** Asks before a sign-in link signs in. Anybody can send such a link, also one to an account of their own. */
export function LinkSignIn({ code, current, onSignedIn, onDeclined }: LinkSignInProps) {
  const [target, setTarget] = useState<Identity>()
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const isReady = useClickGuard()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    describeCode(code).then(setTarget, setError)
  }, [code])
  // Screen readers announce what is asked.
  useEffect(() => heading.current?.focus(), [target, error])
  if (!target && !error) return null
  const accept = async () => {
    setBusy(true)
    try {
      onSignedIn(await signIn({ code }))
    } catch (problem) {
      setTarget(undefined)
      setError(problem)
    }
  }
  return (
    <main class="sign-in">
      <div>
        <span class="mark large" aria-hidden="true">
          T
        </span>
        <h1 ref={heading} tabIndex={-1}>
          {target ? `Sign in to ${describe(target)}?` : 'The link cannot sign you in'}
        </h1>
        <ErrorNote error={error} />
        {target ? (
          <>
            <p class="hint">
              You opened a sign-in link. Continue only if you expected it.
              {current ? ' Signing in replaces your session in this browser.' : ''}
            </p>
            <dl class="facts">
              <IdentityFact name="Link" identity={target} />
              {current ? <IdentityFact name="Your session" identity={current} /> : null}
            </dl>
            <button type="button" class={current ? '' : 'primary'} disabled={isBusy || !isReady} onClick={accept}>
              {isBusy ? 'Signing in…' : `Sign in to ${describe(target)}`}
            </button>
          </>
        ) : null}
        <button type="button" onClick={onDeclined}>
          {current ? `Stay signed in to ${describe(current)}` : 'Sign in with an API key'}
        </button>
      </div>
    </main>
  )
}

function IdentityFact({ name, identity: { account, key } }: { name: string; identity: Identity }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        Account <strong>{account}</strong>
        <br />
        Key{' '}
        <strong>
          <bdi>{key.name}</bdi>
        </strong>
        <div class="soft mono">{key.id}</div>
      </dd>
    </>
  )
}
