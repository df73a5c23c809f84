import { median } from '../report/statistics.ts'
import { type Table, toCell } from '../report/table.ts'
import type { GatewayMemory } from '../rest/memory.ts'
import type { BatchFigures } from './batch.ts'
import { BROWSERS } from './browsers.ts'
import { LIGHTHOUSE_VERSION, type LighthouseRun, type LighthouseRuns } from './lighthouse.ts'
import type { ListFigures } from './list.ts'

const KIBIBYTE = 1_024

/** Scores and times of the pages: medians of the runs. */
export function lighthouseTable(all: readonly LighthouseRuns[]): Table {
  return {
    title: `Pages of the console by Lighthouse ${LIGHTHOUSE_VERSION} (target: performance and best practices 95; medians of the rounds)`,
    head: ['page', 'device', 'performance', 'best practices', 'first paint (ms)', 'largest paint (ms)', 'blocking (ms)', 'shift', 'load'],
    rows: all.map(({ page, device, runs, loads }) => {
      const middle = (pick: (run: LighthouseRun) => number): number => median(runs.map(pick))
      return [
        page,
        device,
        toCell(middle(({ performance }) => performance)),
        toCell(middle(({ bestPractices }) => bestPractices)),
        toCell(middle(({ firstPaint }) => firstPaint)),
        toCell(middle(({ largestPaint }) => largestPaint)),
        toCell(middle(({ blocking }) => blocking)),
        middle(({ shift }) => shift).toFixed(3),
        median(loads).toFixed(1),
      ]
    }),
  }
}

/** Scrolling with more and more records: medians of the rounds. */
export function listTable(
  lists: readonly ListFigures[],
  { thumbnailBytes, loads }: { thumbnailBytes: number; loads: readonly number[] },
): Table {
  const firstPage = toCell(median(lists.map((list) => list.firstPage)))
  const steps = lists[0]?.samples ?? []
  return {
    title: `The list of screenshots (target: first page 1,000 ms, 95 of 100 frames within 20 ms; measured: first page ${firstPage} ms with thumbnails of ${Math.round(thumbnailBytes / KIBIBYTE)} KiB, load ${median(loads).toFixed(1)})`,
    head: [
      ...['loaded records', 'frames p50 (ms)', 'frames p95 (ms)', 'longest (ms)', 'renderer (processor ms/s)', 'gpu (processor ms/s)'],
      ...['script heap (MiB)', 'nodes'],
    ],
    rows: steps.map(({ records }, step) => {
      const samples = lists.flatMap((list) => list.samples[step] ?? [])
      const middle = (pick: (sample: (typeof samples)[number]) => number): number => median(samples.map(pick))
      return [
        String(records),
        middle(({ frames }) => frames.p50).toFixed(1),
        middle(({ frames }) => frames.p95).toFixed(1),
        toCell(middle(({ frames }) => frames.most)),
        middle(({ processor }) => processor.renderer).toFixed(0),
        middle(({ processor }) => processor.gpu).toFixed(0),
        middle(({ heapMebibytes }) => heapMebibytes).toFixed(1),
        toCell(middle(({ nodes }) => nodes)),
      ]
    }),
  }
}

/** A batch that fills in. */
export function batchTable(batches: readonly BatchFigures[]): Table {
  return {
    title: 'A batch of 100 while the list of 10,000 is open (it refreshes itself every 5 s)',
    head: ['round', 'shown as pending (s)', 'shown with pictures, after the last capture (s)', 'reloads'],
    rows: batches.map(({ appeared, filled, reloads }, round) => [
      String(round + 1),
      appeared.toFixed(1),
      filled.toFixed(1),
      String(reloads),
    ]),
  }
}

/** Memory of the gateway with the console in many browsers. */
export function browsersTable(samples: readonly GatewayMemory[]): Table {
  return {
    title: `Memory of one gateway with 10,000 live Screenshots and the console in ${BROWSERS} browsers (MiB; target: 300 resident)`,
    head: ['when', 'resident', 'peak'],
    rows: samples.map(({ when, residentMebibytes, peakMebibytes }) => [when, toCell(residentMebibytes), toCell(peakMebibytes)]),
  }
}
