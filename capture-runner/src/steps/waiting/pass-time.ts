import { FrameClock } from '../../browser/frame-clock.ts'
import { isWithin, pause } from '../../runtime/race.ts'
import type { Work } from '../step.ts'

/** How long the page's clock stops for one request. The limit is short because a tracking pixel that never responds changes nothing visible. */
export const REQUEST_MILLISECONDS = 2_000
const SLICE_MILLISECONDS = 20
const AT_ONCE_MILLISECONDS = 4

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

/** Keeps the page's clock running until an answer is there that may need tasks of the page. Most need none, and are there at once. */
export async function whileTimePasses<T>({ clock, signal }: Work, answer: Promise<T>): Promise<T> {
  while (clock && !(await isWithin(AT_ONCE_MILLISECONDS, answer, signal))) await clock.pass(SLICE_MILLISECONDS, signal)
  return answer
}
