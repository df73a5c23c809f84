import { useState } from 'preact/hooks'
import { type Session, signIn } from '../api/client.ts'
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
