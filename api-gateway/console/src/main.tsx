import './style.css'
import { options, render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { onSessionEnd, readSession, type Session } from './api/client.ts'
import { Shell } from './app/shell.tsx'
import { LinkSignIn, SignIn } from './app/sign-in.tsx'
import { showHidden } from './format/text.ts'
import { forgetAll } from './ui/use-data.ts'

/** A one-time code in the fragment, which is not sent to servers. It is removed from the address bar and the history. */
function takeCode(): string | undefined {
  const [, code] = /^#code=([\w.-]+)$/.exec(location.hash) ?? []
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search)
  return code
}

type State = 'starting' | { session: Session } | { error?: unknown }

const begin = async (): Promise<State> => {
  const session = await readSession()
  return session ? { session } : {}
}

function Console() {
  const [code, setCode] = useState(takeCode)
  const [state, setState] = useState<State>('starting')
  useEffect(() => {
    begin().then(setState, (error: unknown) => setState({ error }))
    onSessionEnd(() =>
      setState((now) => (now !== 'starting' && 'session' in now ? { error: new Error('Your session has ended. Sign in again.') } : now)),
    )
    // A link that is opened in a tab of the console changes only the fragment.
    const update = () => setCode((before) => takeCode() ?? before)
    addEventListener('hashchange', update)
    return () => removeEventListener('hashchange', update)
  }, [])
  if (state === 'starting') return null
  const enter = (session: Session) => {
    forgetAll()
    setState({ session })
    setCode(undefined)
  }
  const leave = () => {
    forgetAll()
    setState({})
  }
  const session = 'session' in state ? state.session : undefined
  if (code !== undefined)
    return <LinkSignIn key={code} code={code} current={session} onSignedIn={enter} onDeclined={() => setCode(undefined)} />
  if ('session' in state) return <Shell session={state.session} onSignedOut={leave} />
  return <SignIn error={state.error} onSignedIn={enter} />
}

options.vnode = showHidden
const root = document.getElementById('console')
if (root) render(<Console />, root)
