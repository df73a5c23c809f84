import './style.css'
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { onSessionEnd, readSession, type Session, signIn } from './api/client.ts'
import { Shell } from './app/shell.tsx'
import { SignIn } from './app/sign-in.tsx'

/** A one-time code in the fragment, which is not sent to servers. It is removed from the address bar and the history. */
function takeCode(): string | undefined {
  const [, code] = /^#code=([\w.-]+)$/.exec(location.hash) ?? []
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search)
  return code
}

const code = takeCode()

type State = 'starting' | { session: Session } | { error?: unknown }

const begin = async (): Promise<State> => {
  const session = await (code === undefined ? readSession() : signIn({ code }))
  return session ? { session } : {}
}

function Console() {
  const [state, setState] = useState<State>('starting')
  useEffect(() => {
    begin().then(setState, (error: unknown) => setState({ error }))
    onSessionEnd(() =>
      setState((now) => (now !== 'starting' && 'session' in now ? { error: new Error('Your session has ended. Sign in again.') } : now)),
    )
  }, [])
  if (state === 'starting') return null
  if ('session' in state) return <Shell session={state.session} onSignedOut={() => setState({})} />
  return <SignIn error={state.error} onSignedIn={(session) => setState({ session })} />
}

const root = document.getElementById('console')
if (root) render(<Console />, root)
