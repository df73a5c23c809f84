import { setTimeout as sleep } from 'node:timers/promises'
import { isRefused } from './port.ts'

const POLL_MILLISECONDS = 500
/** A setup takes seconds. A program with an invalid key continues after this time. */
const PATIENCE_MILLISECONDS = 120_000

/**
 * Resolves when the store accepts the access key. During an upgrade with new keys, the store's setup runs at the same time as the new pods. Does not
 * wait for an unreachable store, because the programs can do much without it.
 */
export async function waitForAccess(
  check: () => Promise<unknown>,
  { signal, patienceMilliseconds = PATIENCE_MILLISECONDS }: { signal?: AbortSignal; patienceMilliseconds?: number } = {},
): Promise<void> {
  const deadline = performance.now() + patienceMilliseconds
  while (performance.now() < deadline && (await isAccessRefused(check))) await sleep(POLL_MILLISECONDS, undefined, signal ? { signal } : {})
}

const isAccessRefused = (check: () => Promise<unknown>): Promise<boolean> => check().then(() => false, isRefused)
