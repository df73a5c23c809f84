import type { Work } from './step.ts'

/**
 * Asks the page's document something. Returns `otherwise` when the page goes to another document meanwhile, which leaves the question without a response.
 * @throws the signal's reason, or why the question failed in a document that is still there
 */
export async function inDocument<T, O>({ tab, signal }: Pick<Work, 'tab' | 'signal'>, otherwise: O, ask: () => Promise<T>): Promise<T | O> {
  const { document } = tab.lifecycle
  try {
    return await ask()
  } catch (error) {
    signal.throwIfAborted()
    if (tab.lifecycle.isMoving || tab.lifecycle.document !== document) return otherwise
    throw error
  }
}
