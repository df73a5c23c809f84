import { poolDefaults, type RunnerPoolSpec } from '@tintype/crds/kinds/runner-pool'

/** The limits in a pool's spec, with defaults filled in. */
export function limitsOf(spec: Partial<RunnerPoolSpec> | undefined) {
  return {
    minIdle: spec?.minIdle ?? poolDefaults.minIdle,
    maxPods: spec?.maxPods ?? poolDefaults.maxPods,
    capturesPerPod: spec?.capturesPerPod ?? poolDefaults.capturesPerPod,
    scaleDownDelayMilliseconds: (spec?.scaleDownDelaySeconds ?? poolDefaults.scaleDownDelaySeconds) * 1_000,
    readinessGraceMilliseconds: (spec?.readinessGraceSeconds ?? poolDefaults.readinessGraceSeconds) * 1_000,
    targetDrainMilliseconds: (spec?.targetDrainSeconds ?? poolDefaults.targetDrainSeconds) * 1_000,
  }
}
