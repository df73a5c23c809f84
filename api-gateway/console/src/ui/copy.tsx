import { useEffect, useState } from 'preact/hooks'

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
