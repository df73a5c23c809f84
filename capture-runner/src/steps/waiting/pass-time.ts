import { FrameClock } from '../../browser/frame-clock.ts'
import { pause } from '../../runtime/race.ts'
import type { Work } from '../step.ts'

/** How long the page's clock stops for one request. The limit is short because a tracking pixel that never responds changes nothing visible. */
export const REQUEST_MILLISECONDS = 2_000
const SLICE_MILLISECONDS = 20

/**
 * The page's clock, on hold. The first time, it takes over the frames of the tab, which have followed real time.
 * @throws the signal's reason; FrameHungError
 */
export async function holdClock(work: Work): Promise<FrameClock> {
  const { tab, onLongTask, signal } = work
  if (!tab.frames) throw new Error('a tab that draws by itself has no clock')
  work.clock ??= await FrameClock.take(tab, tab.frames, onLongTask, signal)
  await work.clock.hold()
  return work.clock
}

/** Waits for this time, and lets it pass for a page with a paused clock. */
export const passTime = ({ clock, signal }: Work, milliseconds: number): Promise<void> =>
  clock?.pass(milliseconds, signal) ?? pause(milliseconds, signal)

/** Keeps the page's clock running until a DevTools command returns that needs tasks of the page. */
export async function whileTimePasses<T>({ clock, signal }: Work, answer: Promise<T>): Promise<T> {
  let isOver = false
  const end = () => {
    isOver = true
  }
  answer.then(end, end)
  while (!isOver && clock) await clock.pass(SLICE_MILLISECONDS, signal)
  return answer
}
