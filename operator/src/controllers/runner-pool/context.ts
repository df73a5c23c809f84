import type { Pod } from '@tintype/crds/client/core-resources'
import type { Log } from '@tintype/crds/client/log'
import type { Resource } from '@tintype/crds/client/resource'
import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { Reflectors } from '../../kube/reflectors.ts'
import type { PoolMetrics } from '../../metrics/metrics.ts'
import type { Expectations } from '../../runner/expectations.ts'
import type { PodSettings } from '../../runner/pod.ts'
import type { Runners } from '../../runner/runners.ts'
import type { Dispatcher } from '../../scheduling/dispatcher.ts'
import type { CaptureTimes } from '../../scheduling/size.ts'
import type { GuardDecision } from '../guard/decision.ts'
import type { PoolMemory } from './state.ts'

/** Dependencies of the RunnerPool controllers during one term. */
export interface PoolContext {
  namespace: string
  pools: Resource<RunnerPool>
  pods: Pick<Resource<Pod>, 'create' | 'delete' | 'find'>
  reflectors: Pick<Reflectors, 'pools' | 'pods'>
  runners: Runners
  expectations: Expectations
  dispatcher: Dispatcher
  captureTimes: CaptureTimes
  guard: () => GuardDecision
  podSettings: PodSettings
  /** By pool name. */
  memories: Map<string, PoolMemory>
  events: EventRecorder
  metrics: PoolMetrics
  log: Log
  now: () => Date
}
