import { CaptureError } from '../runtime/errors.ts'
import type { Work } from './step.ts'

/** Waits that a best attempt does without when they take too long. */
const PASSING = new Set(['TIMEOUT', 'SELECTOR_NOT_FOUND'])

/** Waits for something; for a best attempt, what took too long becomes a warning. */
export async function attempt({ plan, findings, signal }: Work, wait: () => Promise<void>): Promise<void> {
  try {
    await wait()
  } catch (error) {
    signal.throwIfAborted()
    if (!plan.isBestAttempt || !(error instanceof CaptureError) || !PASSING.has(error.code)) throw error
    findings.warnings.push(error.message)
  }
}
