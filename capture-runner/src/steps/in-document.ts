import type { Work } from './step.ts'

/**
 * Asks the page's document something. Returns `otherwise` when the page leaves for another document meanwhile: the browser holds the question back until
 * that document is there, which may be never.
 * @throws the signal's reason, or why the question failed in a document that is still there
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
