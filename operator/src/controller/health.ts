/** What the liveness probe asks of a reflector. */
export type WatchedReflector = { resource: { plural: string }; lastActiveAt: number }

/** What the liveness probe asks of a controller. */
export type WatchedController = { name: string; stuckFor(): number }

/**
 * Longer than the longest time in which a sound reflector does nothing: 75 s of silence before the watchdog, 60 s for a list, 30 s of backoff.
 */
export const REFLECTOR_STANDSTILL_MILLISECONDS = 180_000

/**
 * What a restart would mend, in words; empty when the process is alive.
 * Only standstill counts. A long queue, a slow API server or an absent one is work or waiting: a restart would make those worse.
 */
export function findProblems({
  controllers,
  reflectors,
  now,
}: {
  controllers: readonly WatchedController[]
  reflectors: readonly WatchedReflector[]
  now: number
}): string[] {
  const stuck = controllers
    .filter((controller) => controller.stuckFor() > 0)
    .map(
      (controller) =>
        `controller ${controller.name} has a worker that does not end, ${Math.round(controller.stuckFor() / 1_000)} s overdue`,
    )
  const silent = reflectors
    .map(({ resource, lastActiveAt }) => ({ name: resource.plural, milliseconds: now - lastActiveAt }))
    .filter(({ milliseconds }) => milliseconds > REFLECTOR_STANDSTILL_MILLISECONDS)
    .map(({ name, milliseconds }) => `the reflector of ${name} has stood still for ${Math.round(milliseconds / 1_000)} s`)
  return [...stuck, ...silent]
}
