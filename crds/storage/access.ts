import { setTimeout as sleep } from 'node:timers/promises'
import { isRefused } from './port.ts'

const POLL_MILLISECONDS = 500
/** A setup takes seconds. A program with a wrong key continues after this time. */
const PATIENCE_MILLISECONDS = 120_000

/**
 * Resolves when the store knows our key. At an upgrade with new keys the store's setup runs beside the new pods. A store that is away is no reason
 * to wait: much can be done without it.
 */
export async function whenAdmitted(
  check: () => Promise<unknown>,
  { signal, patienceMilliseconds = PATIENCE_MILLISECONDS }: { signal?: AbortSignal; patienceMilliseconds?: number } = {},
): Promise<void> {
  const deadline = performance.now() + patienceMilliseconds
  while (performance.now() < deadline && (await isAccessRefused(check))) await sleep(POLL_MILLISECONDS, undefined, signal ? { signal } : {})
}

const isAccessRefused = (check: () => Promise<unknown>): Promise<boolean> => check().then(() => false, isRefused)
