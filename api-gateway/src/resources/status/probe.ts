import { setTimeout as sleep } from 'node:timers/promises'
import { type ComponentHealth, evaluateComponent } from './service-status.ts'

/** Checks a component of the service. Never throws. */
export type Probe = () => Promise<ComponentHealth>

/** GET /status is public, so each component is checked at most once in two seconds. */
const CACHE_MILLISECONDS = 2_000
const TIMEOUT_MILLISECONDS = 2_000

/** Builds a probe from a call that rejects when the component is unavailable. */
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
  const timeout = new AbortController()
  const hasResponded = await Promise.race([
    check().then(
      () => true,
      () => false,
    ),
    sleep(TIMEOUT_MILLISECONDS, false, { signal: timeout.signal }).catch(() => false),
  ])
  timeout.abort()
  return evaluateComponent(hasResponded, performance.now() - started)
}
