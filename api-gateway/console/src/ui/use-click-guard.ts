import { useEffect, useState } from 'preact/hooks'

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
