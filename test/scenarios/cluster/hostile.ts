import type { Test } from 'tap'
import { captureHostilePage, HOSTILE_CASES, type HostileOutcome } from '../../support/attack/hostile.ts'
import { type PodState, startHostileStage } from '../../support/attack/hostile-stage.ts'
import { scenario } from '../harness/scenario.ts'
import { clusterStage } from './stage/cluster-objects.ts'

/**
 * Captures each hostile page on one runner of a separate pool, followed by an ordinary page. Measures the wait of the ordinary page and the
 * resources of the pod.
 */
export const hostile = scenario({
  name: 'hostile',
  shows: 'pages on one runner that try to block or exhaust it, and an ordinary page after each',
  stage: clusterStage,
  run: async ({ ends, table, progress }) => {
    const { take, measure } = await startHostileStage(ends as Test)
    await take('/quadrants', {})
    const rows = [['(at rest, before)', '', '', '', '', '', '', ...stateCells(await measure())]]
    for (const page of HOSTILE_CASES) {
      const outcome = await captureHostilePage(take, page)
      const row = [page.name, ...cellsOf(outcome), ...stateCells(await measure())]
      rows.push(row)
      progress(row.join(', '))
    }
    table({ title: TITLE, head: HEAD, rows })
  },
})

const TITLE =
  'Hostile pages on one runner: the outcome, the next capture (its claim and its completion after its creation), and the pod afterwards'
const HEAD = ['page', 'ended', 'after', 'same pod', 'next ended', 'next claimed', 'next done', 'MiB', 'browsers', 'processes', 'zombies']

const stateCells = ({ mebibytes, browsers, processes, zombies }: PodState): string[] =>
  [mebibytes, browsers, processes, zombies].map(String)

const cellsOf = ({ outcome, seconds, isSamePod, next, nextStart, nextEnd }: HostileOutcome): string[] => [
  outcome,
  `${seconds.toFixed(1)} s`,
  isSamePod ? 'yes' : 'no',
  next.status?.result?.error?.code ?? next.status?.phase ?? '',
  `${nextStart.toFixed(0)} ms`,
  `${nextEnd.toFixed(0)} ms`,
]
