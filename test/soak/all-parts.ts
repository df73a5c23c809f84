import type { Part } from './part.ts'
import { bodies } from './parts/bodies.ts'
import { claim } from './parts/claim.ts'
import { clusterEvicted } from './parts/cluster-evicted.ts'
import { clusterManual } from './parts/cluster-manual.ts'
import { clusterNodeLost } from './parts/cluster-node-lost.ts'
import { clusterSideBySide } from './parts/cluster-side-by-side.ts'
import { clusterUpgrade } from './parts/cluster-upgrade.ts'
import { clusterVersitygw } from './parts/cluster-versitygw.ts'
import { compare } from './parts/compare.ts'
import { comparisons } from './parts/comparisons.ts'
import { downloads } from './parts/downloads.ts'
import { faults } from './parts/faults.ts'
import { large } from './parts/large.ts'
import { leaders } from './parts/leaders.ts'
import { many } from './parts/many.ts'
import { minio } from './parts/minio.ts'
import { neighbors } from './parts/neighbors.ts'
import { nightly } from './parts/nightly.ts'
import { outage } from './parts/outage.ts'
import { release } from './parts/release.ts'
import { schedules } from './parts/schedules.ts'
import { steady } from './parts/steady.ts'
import { throughput } from './parts/throughput.ts'
import { year } from './parts/year.ts'

/** All parts in order. */
export const parts: readonly Part[] = [
  throughput,
  claim,
  many,
  large,
  schedules,
  leaders,
  steady,
  downloads,
  outage,
  ...faults,
  year,
  minio,
  bodies,
  compare,
  comparisons,
  nightly,
  release,
  clusterEvicted,
  clusterNodeLost,
  clusterManual,
  clusterUpgrade,
  neighbors,
  clusterVersitygw,
  clusterSideBySide,
]
