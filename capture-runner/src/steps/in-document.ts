import type { Work } from './step.ts'

/**
 * Evaluates something in the page's document. Returns `otherwise` as soon as the page navigates: the browser delays the evaluation until the
 * navigation commits, which may be never.
 * @throws the signal's reason, or the evaluation's error if the document is still the same
 */
export async function inDocument<T, O>({ tab, signal }: Pick<Work, 'tab' | 'signal'>, otherwise: O, ask: () => Promise<T>): Promise<T | O> {
  const { document } = tab.lifecycle
  const asked = new AbortController()
  const leaving = tab.lifecycle.leave(asked.signal).then(() => otherwise)
  leaving.catch(() => {})
  try {
    return await Promise.race([ask(), leaving])
  } catch (error) {
    signal.throwIfAborted()
    if (tab.lifecycle.isMoving || tab.lifecycle.document !== document) return otherwise
    throw error
  } finally {
    asked.abort()
  }
}
