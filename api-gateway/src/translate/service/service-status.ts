/** Status of the service or of a component. */
export type Health = 'operational' | 'degraded' | 'outage'

/** Result of a probe. */
export interface ComponentHealth {
  status: Health
  response_time_ms: number
}

/** Responses above this time count as slow. */
const SLOW_MILLISECONDS = 1_000

/** Evaluates a probe: a failed one is an outage, a slow one is degraded. */
export const evaluateComponent = (hasResponded: boolean, durationMilliseconds: number): ComponentHealth => ({
  status: !hasResponded ? 'outage' : durationMilliseconds > SLOW_MILLISECONDS ? 'degraded' : 'operational',
  response_time_ms: Math.round(durationMilliseconds),
})

/** Without the database nothing works. Without storage reads and creates still work. */
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

/** The body of GET /status. */
export const toServiceStatus = ({ version, now, uptimeSeconds, responseMilliseconds, database, storage }: StatusFacts) => ({
  status: evaluateService(database.status, storage.status),
  version,
  timestamp: now.toISOString(),
  uptime_seconds: Math.floor(uptimeSeconds),
  response_time_ms: Math.round(responseMilliseconds),
  components: { database, storage, api: { status: 'operational' satisfies Health } },
})
