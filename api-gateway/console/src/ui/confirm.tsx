import { useRef } from 'preact/hooks'

interface ConfirmProps {
  label: string
  /** Name for screen readers, where several buttons have the same label. */
  name?: string
  title: string
  text: string
  /** Without a border, for rows of tables. */
  isPlain?: boolean
  /** Class of the buttons. */
  kind?: 'danger' | 'primary' | 'secondary'
  onConfirm: () => void
}

/** A button for an action that cannot be undone. A dialog asks first. */
export function ConfirmButton({ label, name, title, text, isPlain = false, kind = 'danger', onConfirm }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const confirm = () => {
    dialog.current?.close()
    onConfirm()
  }
  return (
    <>
      <button type="button" class={isPlain ? `plain ${kind}` : kind} aria-label={name} onClick={() => dialog.current?.showModal()}>
        {label}
      </button>
      <dialog ref={dialog} aria-label={title}>
        <div class="stack">
          <h2>{title}</h2>
          <p>{text}</p>
          <div class="actions">
            <button type="button" onClick={() => dialog.current?.close()}>
              Cancel
            </button>
            <button type="button" class={kind} onClick={confirm}>
              {label}
            </button>
          </div>
        </div>
      </dialog>
    </>
  )
}
