import { CopyButton } from './copy.tsx'
import { useKept } from './kept.ts'
import { Note } from './notes.tsx'

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

/** Texts that the API shows only once. They are kept while another page is shown, until they are dismissed. */
export function useSecrets(kind: 'keys' | 'webhooks'): Secrets {
  const [secrets, change] = useKept<readonly Secret[]>(`secrets of ${kind}`, () => [])
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
