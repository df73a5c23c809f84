import { batches } from './cluster/batches.ts'
import { clusterEvicted, clusterNodeLost } from './cluster/lost-runners.ts'
import { neighbors } from './cluster/neighbors.ts'
import { price } from './cluster/price.ts'
import { memory, sequential } from './cluster/sequential.ts'
import { blocking } from './engine/blocking.ts'
import { comparePictures } from './engine/compare.ts'
import { comparisons } from './engine/comparisons.ts'
import { engine, growth } from './engine/engine.ts'
import { tall } from './engine/tall.ts'
import { video } from './engine/video.ts'
import type { Command } from './harness/options.ts'
import type { Scenario } from './harness/scenario.ts'
import { nightly } from './nightly.ts'
import { bodies } from './plane/bodies.ts'
import { compare } from './plane/compare.ts'
import { consolePages } from './plane/console/console.ts'
import { downloads } from './plane/downloads.ts'
import { faults } from './plane/faults.ts'
import { leaders } from './plane/leaders.ts'
import { outage } from './plane/outage.ts'
import { links, restMemory } from './plane/rest.ts'
import { claim, large, many } from './plane/scale.ts'
import { schedules } from './plane/schedules.ts'
import { minio, stores } from './plane/stores.ts'
import { steady, throughput } from './plane/throughput.ts'
import { webhooks } from './plane/webhooks/webhooks.ts'
import { year } from './plane/year.ts'
import { clusterManual } from './releases/cluster-manual.ts'
import { clusterUpgrade } from './releases/cluster-upgrade.ts'
import { clusterSideBySide, clusterVersitygw } from './releases/further-releases.ts'
import { release } from './releases/release.ts'

/** All scenarios by command, in the order in which they run. */
export const SCENARIOS: Readonly<Record<Command, readonly Scenario[]>> = {
  bench: [
    // First, because the others leave memory in use.
    memory,
    ...[sequential, batches, price],
    ...[restMemory, links, webhooks, stores, consolePages],
    ...[engine, growth, tall, video, comparePictures, blocking],
  ],
  soak: [
    ...[throughput, claim, many, large, schedules, leaders, steady, downloads, outage, ...faults, year, minio, bodies, compare],
    ...[comparisons, nightly, release],
    ...[clusterEvicted, clusterNodeLost, clusterManual, clusterUpgrade, neighbors, clusterVersitygw, clusterSideBySide],
  ],
}
