import { CopyButton } from './buttons.tsx'
import { Note } from './notes.tsx'
import { recall, useKept } from './use-data.ts'

interface Secret {
  /** Id of the key or the endpoint. */
  id: string
  title: string
  text: string
}

interface Secrets {
  secrets: readonly Secret[]
  /** Shows a secret. It replaces an earlier one with the same id. */
  show: (secret: Secret) => void
  dismiss: (id: string) => void
}

const KINDS = ['keys', 'webhooks'] as const
type Kind = (typeof KINDS)[number]
const keyOf = (kind: Kind): string => `secrets of ${kind}`

// A reload would lose them, so the browser asks first.
addEventListener('beforeunload', (event) => {
  if (KINDS.some((kind) => recall<readonly Secret[]>(keyOf(kind))?.length)) event.preventDefault()
})

/** Texts that the API shows only once. They are kept while another page is shown, until they are dismissed. */
export function useSecrets(kind: Kind): Secrets {
  const [secrets, change] = useKept<readonly Secret[]>(keyOf(kind), () => [])
  const dismiss = (id: string) => change((before) => before.filter((one) => one.id !== id))
  const show = (secret: Secret) => change((before) => [secret, ...before.filter(({ id }) => id !== secret.id)])
  return { secrets, show, dismiss }
}

export const ShownOnce = ({ secrets, dismiss }: Omit<Secrets, 'show'>) => (
  <>
    {secrets.map(({ id, title, text }) => (
      <Note key={id} kind="good">
        <p>
          <strong>{title}</strong> Copy it now. After “Done”, it is not shown again.
        </p>
        <p class="secret">
          <code class="wrap">{text}</code>
        </p>
        <div class="actions">
          <CopyButton text={text} />
          <button type="button" class="plain" onClick={() => dismiss(id)}>
            Done
          </button>
        </div>
      </Note>
    ))}
  </>
)
