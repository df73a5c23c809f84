/** Status of the service or of a part of it (spec 3.2). */
export type Health = 'operational' | 'degraded' | 'outage'

/** What a probe found. */
export interface ComponentHealth {
  status: Health
  response_time_ms: number
}

/** Milliseconds beyond which an answer counts as slow. */
const SLOW_MILLISECONDS = 1_000

/** Judges one probe: no answer is an outage, a slow one degraded. */
export const evaluateComponent = (hasResponded: boolean, durationMilliseconds: number): ComponentHealth => ({
  status: !hasResponded ? 'outage' : durationMilliseconds > SLOW_MILLISECONDS ? 'degraded' : 'operational',
  response_time_ms: Math.round(durationMilliseconds),
})

/** Without the database nothing can be asked for; without storage reads and new jobs still work. */
export function evaluateService(database: Health, storage: Health): Health {
  if (database === 'outage') return 'outage'
  return database === 'operational' && storage === 'operational' ? 'operational' : 'degraded'
}

interface StatusFacts {
  version: string
  now: Date
  uptimeSeconds: number
  responseMilliseconds: number
  database: ComponentHealth
  storage: ComponentHealth
}

/** The body of GET /status (spec 2.7). */
export const toServiceStatus = ({ version, now, uptimeSeconds, responseMilliseconds, database, storage }: StatusFacts) => ({
  status: evaluateService(database.status, storage.status),
  version,
  timestamp: now.toISOString(),
  uptime_seconds: Math.floor(uptimeSeconds),
  response_time_ms: Math.round(responseMilliseconds),
  components: { database, storage, api: { status: 'operational' satisfies Health } },
})
