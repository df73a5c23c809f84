import type { Work } from './step.ts'

/**
 * Evaluates something in the page's document. Returns `otherwise` when the page navigates meanwhile, because the evaluation then never returns.
 * @throws the signal's reason, or the evaluation's error if the document is still the same
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
