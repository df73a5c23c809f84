import { newPile } from '../../soak/stage/ends.ts'
import { type Endured, endure, HOSTILE_CASES } from '../../support/attack/hostile.ts'
import { type PodState, startHostileStage } from '../../support/attack/hostile-stage.ts'
import { type Table, toCell } from '../report/table.ts'
import { undoing } from '../report/undo.ts'

/** Captures each hostile page on one runner of a pool of its own, an ordinary page after each, and tells how long that one waited and what the pod uses. */
export async function measureHostile(tell: (line: string) => void): Promise<Table> {
  const pile = newPile()
  return undoing(pile.endAll, async () => {
    const { take, measure } = await startHostileStage(pile)
    await take('/quadrants', {})
    const rows = [['(at rest, before)', '', '', '', '', '', '', ...stateCells(await measure())]]
    for (const hostile of HOSTILE_CASES) {
      const endured = await endure(take, hostile)
      rows.push([hostile.name, ...cellsOf(endured), ...stateCells(await measure())])
      tell(rows.at(-1)?.join(', ') ?? '')
    }
    return { title: TITLE, head: HEAD, rows }
  })
}

const TITLE =
  'Hostile pages on one runner: how they end, when the next capture starts (its claim, and its picture’s end, after its creation), and what the pod is then'
const HEAD = ['page', 'ended', 'after', 'same pod', 'next ended', 'next claimed', 'next done', 'MiB', 'browsers', 'processes', 'zombies']

const stateCells = ({ mebibytes, browsers, processes, zombies }: PodState): string[] =>
  [mebibytes, browsers, processes, zombies].map(String)

const cellsOf = ({ outcome, seconds, isSamePod, next, nextStart, nextEnd }: Endured): string[] => [
  outcome,
  `${seconds.toFixed(1)} s`,
  isSamePod ? 'yes' : 'no',
  next.status?.result?.error?.code ?? next.status?.phase ?? '',
  `${toCell(nextStart)} ms`,
  `${toCell(nextEnd)} ms`,
]
