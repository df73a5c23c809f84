import type { PoolMetrics } from '../../metrics/metrics.ts'
import type { PodSettings } from '../../runner/pod.ts'
import type { CaptureDeps } from '../../scheduling/term-state.ts'
import type { GuardDecision } from '../guard/decision.ts'
import type { PoolMemory } from './state.ts'

export interface PoolDeps extends CaptureDeps {
  guard: () => GuardDecision
  metrics: PoolMetrics
  /** Called with the uid of a pod that can capture from now on. */
  onIdentified: (podUid: string) => void
}

/** Dependencies of the RunnerPool controllers during one term. */
export interface PoolContext extends PoolDeps {
  podSettings: PodSettings
  /** By pool name. */
  memories: Map<string, PoolMemory>
}
