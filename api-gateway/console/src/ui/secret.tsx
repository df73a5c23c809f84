import { CopyButton } from './copy.tsx'
import { Note } from './notes.tsx'

/** A text that the API shows only once. */
export function ShownOnce({ title, text, onDone }: { title: string; text: string; onDone: () => void }) {
  return (
    <Note kind="good">
      <p>
        <strong>{title}</strong> Copy it now. It is not shown again.
      </p>
      <p class="secret">
        <code class="wrap">{text}</code>
      </p>
      <div class="actions">
        <CopyButton text={text} />
        <button type="button" class="plain" onClick={onDone}>
          Done
        </button>
      </div>
    </Note>
  )
}
