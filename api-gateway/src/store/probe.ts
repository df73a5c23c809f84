import { setTimeout as sleep } from 'node:timers/promises'
import { type ComponentHealth, evaluateComponent } from '../translate/service/service-status.ts'
import type { Probe } from './ports.ts'

/** The status page is public: however often it is read, a part is asked once in two seconds. */
const CACHE_MILLISECONDS = 2_000
const PATIENCE_MILLISECONDS = 2_000

/** Makes a probe out of a call that rejects when the part is away. */
export function buildProbe(check: () => Promise<unknown>): Probe {
  let last: { at: number; health: Promise<ComponentHealth> } | undefined
  return () => {
    const now = performance.now()
    if (last === undefined || now - last.at > CACHE_MILLISECONDS) last = { at: now, health: ask(check) }
    return last.health
  }
}

async function ask(check: () => Promise<unknown>): Promise<ComponentHealth> {
  const started = performance.now()
  const patience = new AbortController()
  const hasResponded = await Promise.race([
    check().then(
      () => true,
      () => false,
    ),
    sleep(PATIENCE_MILLISECONDS, false, { signal: patience.signal }).catch(() => false),
  ])
  patience.abort()
  return evaluateComponent(hasResponded, performance.now() - started)
}
