import { PageClock } from '../../browser/page-clock.ts'
import { pause } from '../../runtime/race.ts'
import type { Work } from '../step.ts'

/** Milliseconds for which the page's clock stops for one request. A counter that never responds changes nothing in the picture, so no longer. */
export const REQUEST_MILLISECONDS = 2_000
const SLICE_MILLISECONDS = 20

/** The page's clock. A capture has one: two would take each other's answers for their own. */
export function clockOf(work: Work): PageClock {
  work.clock ??= new PageClock(work.tab)
  return work.clock
}

/** Lets so many milliseconds pass, for a page whose clock stands still too. */
export const passTime = ({ clock, signal }: Work, milliseconds: number): Promise<void> =>
  clock?.pass(milliseconds, signal) ?? pause(milliseconds, signal)

/** Keeps the page's clock running until a command is answered that tasks of the page have a part in. */
export async function whileTimePasses<T>({ clock, signal }: Work, answer: Promise<T>): Promise<T> {
  let isOver = false
  const end = () => {
    isOver = true
  }
  answer.then(end, end)
  while (!isOver && clock) await clock.pass(SLICE_MILLISECONDS, signal)
  return answer
}
