import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { median } from './report/statistics.ts'

// Durations of the stages of a finished Screenshot, from the times in its object. In the local cluster all times come from one node.

/** Milliseconds of each stage. Steps of the runner have a leading dot. */
export function stagesOf({ metadata, status }: Pick<Screenshot, 'metadata' | 'status'>): Record<string, number> {
  const { startTime = '', completionTime = '', result } = status ?? {}
  const created = createdAtOf(screenshotIdOf(metadata)).getTime()
  const inRunner = result?.processingMilliseconds ?? Number.NaN
  const steps = Object.entries(result?.timings ?? {}).map(([name, milliseconds]) => [`.${name}`, milliseconds] as const)
  return {
    'created to claimed': Date.parse(startTime) - created,
    'claimed to accepted': Date.parse(completionTime) - Date.parse(startTime) - inRunner,
    'in the runner': inRunner,
    ...Object.fromEntries(steps),
    'created to completed': Date.parse(completionTime) - created,
  }
}

/** The median of each stage over several Screenshots, in order. */
export function medianStages(shots: readonly Pick<Screenshot, 'metadata' | 'status'>[]): [name: string, milliseconds: number][] {
  const all = shots.map(stagesOf)
  const names = [...new Set(all.flatMap((stages) => Object.keys(stages)))]
  return names.map((name) => [name, median(all.flatMap((stages) => stages[name] ?? []))])
}
