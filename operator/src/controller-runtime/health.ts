/** The part of a reflector that the liveness probe reads. */
export type WatchedReflector = { resource: { plural: string }; lastActiveAt: number }

/** The part of a controller that the liveness probe reads. */
export type WatchedController = { name: string; stuckFor(): number }

/** Longer than the longest idle time of a healthy reflector: 75 s of silence before the watchdog, 60 s for a list, 30 s of backoff. */
export const REFLECTOR_STANDSTILL_MILLISECONDS = 180_000

/**
 * Describes the problems that a restart would fix; empty when the process is healthy.
 * Only workers and reflectors that are stuck count. A long queue and a slow or unreachable API server do not: a restart would make those
 * worse.
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
    .map((controller) => `a worker of controller ${controller.name} is stuck, ${Math.round(controller.stuckFor() / 1_000)} s overdue`)
  const silent = reflectors
    .map(({ resource, lastActiveAt }) => ({ name: resource.plural, milliseconds: now - lastActiveAt }))
    .filter(({ milliseconds }) => milliseconds > REFLECTOR_STANDSTILL_MILLISECONDS)
    .map(({ name, milliseconds }) => `the reflector of ${name} has been inactive for ${Math.round(milliseconds / 1_000)} s`)
  return [...stuck, ...silent]
}
