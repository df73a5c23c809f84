// A process that compares two pictures as a runner does. It prints the milliseconds of each comparison, and the memory that the last one added.
// Arguments: URL of the earlier picture, file of the new one, number of comparisons.

import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { ArtifactType } from '@tintype/crds/options/artifacts'
import { drawDifferences, examine, openBaseline } from '../../../../capture-runner/src/capture/compare.ts'
import { buildPlan } from '../../../../capture-runner/src/plan/plan.ts'

const [url = '', file = '', count = '1'] = parseArgs({ allowPositionals: true }).positionals
const picture = readFileSync(file)
const plan = buildPlan('https://example.com/', {})
const signal = AbortSignal.timeout(300_000)

/** Kibibytes of a line of /proc/self/status. */
const statusOf = (name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))?.[1])

async function compareOnce() {
  const files = new Map<ArtifactType, Buffer>()
  await using baseline = await openBaseline({ url, headers: {}, maxBytes: 2 ** 30 }, signal)
  // In a capture, the download has ended long before.
  await baseline?.sha256
  // Resets the highest resident memory of the process.
  writeFileSync('/proc/self/clear_refs', '5')
  const before = statusOf('VmRSS')
  const [started, processor] = [performance.now(), process.cpuUsage()]
  const examined = await examine(picture, baseline!, { files, warnings: [] }, plan, signal)
  await drawDifferences(examined, { files }, signal)
  const { changedRatio } = examined.comparison
  const { user, system } = process.cpuUsage(processor)
  const milliseconds = performance.now() - started
  return { milliseconds, processor: (user + system) / 1_000, mebibytes: (statusOf('VmHWM') - before) / 1024, changedRatio }
}

const samples = []
for (let n = 0; n < Number(count); n++) samples.push(await compareOnce())
process.stdout.write(JSON.stringify(samples))
