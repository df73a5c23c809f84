import { newCleanupStack } from '../../soak/stage/ends.ts'
import { captureHostilePage, HOSTILE_CASES, type HostileOutcome } from '../../support/attack/hostile.ts'
import { type PodState, startHostileStage } from '../../support/attack/hostile-stage.ts'
import { type Table, toCell } from '../report/table.ts'
import { undoing } from '../report/undo.ts'

/**
 * Captures each hostile page on one runner of a separate pool, followed by an ordinary page. Measures the wait of the ordinary page and the
 * resources of the pod.
 */
export async function measureHostile(progress: (line: string) => void): Promise<Table> {
  const cleanupStack = newCleanupStack()
  return undoing(cleanupStack.endAll, async () => {
    const { take, measure } = await startHostileStage(cleanupStack)
    await take('/quadrants', {})
    const rows = [['(at rest, before)', '', '', '', '', '', '', ...stateCells(await measure())]]
    for (const hostile of HOSTILE_CASES) {
      const hostileOutcome = await captureHostilePage(take, hostile)
      rows.push([hostile.name, ...cellsOf(hostileOutcome), ...stateCells(await measure())])
      progress(rows.at(-1)?.join(', ') ?? '')
    }
    return { title: TITLE, head: HEAD, rows }
  })
}

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
  `${toCell(nextStart)} ms`,
  `${toCell(nextEnd)} ms`,
]
