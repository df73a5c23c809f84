import { CaptureError } from '../errors.ts'
import { bounded, pause } from '../race.ts'
import type { Work } from './step.ts'

/** Milliseconds between two looks; the first come quickly because most elements are there already. */
const INTERVALS = [0, 20, 50, 100]

type Sight = 'visible' | 'absent' | 'invalid'

/** Waits until a visible element matches. @throws CaptureError SELECTOR_NOT_FOUND after the plan's timeout, or at once for what is no selector */
export async function findElement(work: Work, selector: string): Promise<void> {
  const { tab, plan } = work
  const notFound = () =>
    new CaptureError('SELECTOR_NOT_FOUND', `no visible element matched within ${plan.timeoutMilliseconds} ms: ${selector}`)
  using time = bounded(work.signal, plan.timeoutMilliseconds, notFound)
  for (let i = 0; ; i++) {
    const sight = await look(work, selector, time.signal)
    if (sight === 'visible') return
    if (sight === 'invalid') throw new CaptureError('SELECTOR_NOT_FOUND', `not a CSS selector: ${selector}`)
    await tab.lifecycle.reach(['commit'], time.signal)
    await pause(INTERVALS[Math.min(i, INTERVALS.length - 1)] ?? 0, time.signal)
  }
}

async function look({ tab }: Work, selector: string, signal: AbortSignal): Promise<Sight> {
  const { document } = tab.lifecycle
  try {
    return await tab.look<Sight>(sightOf(selector), signal)
  } catch (error) {
    signal.throwIfAborted()
    // The document went away under the question: ask the next one.
    if (tab.lifecycle.isMoving || tab.lifecycle.document !== document) return 'absent'
    throw error
  }
}

/** The first visible match, as an expression; undefined when there is none. @throws in the page when `selector` is none */
export const firstVisible = (selector: string): string => `[...document.querySelectorAll(${JSON.stringify(selector)})]
  .find((element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility === 'visible')`

const sightOf = (selector: string): string => `(() => {
  try { return ${firstVisible(selector)} ? 'visible' : 'absent' }
  catch (error) { if (error.name === 'SyntaxError') return 'invalid'; throw error }
})()`
