import type { PoolMetrics } from '../../metrics/metrics.ts'
import type { PodSettings } from '../../runner/pod.ts'
import type { TermDeps } from '../../runtime/deps.ts'
import type { TermState } from '../../scheduling/term-state.ts'
import type { GuardDecision } from '../guard/decision.ts'
import type { PoolMemory } from './state.ts'

/** Dependencies of the RunnerPool controllers during one term. */
export interface PoolContext extends TermDeps, TermState {
  guard: () => GuardDecision
  podSettings: PodSettings
  /** By pool name. */
  memories: Map<string, PoolMemory>
  metrics: PoolMetrics
  /** Called with the uid of a pod that can capture from now on. */
  onIdentified: (podUid: string) => void
}
