import { CaptureError } from '../runtime/errors.ts'
import type { Work } from './step.ts'

/** Errors that become warnings in a best attempt. */
const PASSING = new Set(['TIMEOUT', 'SELECTOR_NOT_FOUND'])

/** Waits for a condition. In a best attempt, a timeout becomes a warning. */
export async function attempt({ plan, findings, signal }: Work, wait: () => Promise<void>): Promise<void> {
  try {
    await wait()
  } catch (error) {
    signal.throwIfAborted()
    if (!plan.options.bestAttempt || !(error instanceof CaptureError) || !PASSING.has(error.code)) throw error
    findings.warnings.push(error.message)
  }
}
