import { useEffect, useRef, useState } from 'preact/hooks'

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

/** Copies a text. The button says so for two seconds. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle')
  useEffect(() => {
    if (state === 'idle') return undefined
    const timer = setTimeout(() => setState('idle'), 2_000)
    return () => clearTimeout(timer)
  }, [state])
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setState('copied'),
      () => setState('failed'),
    )
  return (
    <button type="button" class="plain" onClick={copy} aria-live="polite">
      {{ idle: label, copied: 'Copied', failed: 'Not copied: select the text' }[state]}
    </button>
  )
}

const MILLISECONDS = 500

/**
 * False for half a second after the part has appeared or the window has received the focus. Another page can close its window between the two clicks
 * of a double click, so that the second one meets this page.
 */
export function useClickGuard(): boolean {
  const [isReady, setReady] = useState(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const restart = () => {
      setReady(false)
      clearTimeout(timer)
      timer = setTimeout(() => setReady(true), MILLISECONDS)
    }
    restart()
    addEventListener('focus', restart)
    return () => {
      removeEventListener('focus', restart)
      clearTimeout(timer)
    }
  }, [])
  return isReady
}
