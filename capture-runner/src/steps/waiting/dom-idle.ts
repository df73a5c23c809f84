import { callInPage } from '../../page/call.ts'
import { pause } from '../../runtime/race.ts'
import { follow } from '../navigation/navigate.ts'
import { inDocument, type Step, type Work } from '../step.ts'

const INTERVAL_MILLISECONDS = 50

/** Waits until the DOM has not changed for a while. Polls a MutationObserver's records, because the page's own scripts may be switched off. */
export const domIdle: Step = {
  name: 'domIdle',
  isWanted: (plan) => plan.options.domIdleTime > 0,
  run: async (work) => {
    const { domIdleTime, timeout } = work.plan.options
    if (await isStill(work, domIdleTime, timeout)) return
    work.findings.warnings.push(`the page’s elements kept changing for ${timeout} ms`)
  },
}

/**
 * Waits until nothing has changed for `quietMilliseconds`. Returns false if the page still changes at the timeout.
 * @param clock counts the milliseconds
 */
export async function isStill(
  work: Work,
  quietMilliseconds: number,
  timeoutMilliseconds: number,
  clock = realTime(work),
): Promise<boolean> {
  const { tab } = work
  const until = clock.now() + timeoutMilliseconds
  let changedAt = clock.now()
  while (clock.now() - changedAt < quietMilliseconds) {
    if (clock.now() > until) return false
    const { document } = tab.lifecycle
    const changes = await countChanges(work)
    if (changes > 0 || tab.lifecycle.document !== document) changedAt = clock.now()
    await clock.pass(clock.interval)
    if (tab.lifecycle.isMoving) clock.run()
    await follow(work)
  }
  return true
}

/** A clock that counts milliseconds and lets them pass. */
export interface Clock {
  now: () => number
  /** Milliseconds between two checks. */
  interval: number
  pass: (milliseconds: number) => Promise<void>
  /** Keeps the clock running while the caller waits for something else. */
  run: () => void
}

const realTime = ({ signal }: Work): Clock => ({
  now: () => performance.now(),
  interval: INTERVAL_MILLISECONDS,
  pass: (milliseconds) => pause(milliseconds, signal),
  run: () => {},
})

const countChanges = ({ tab, signal }: Work): Promise<number> =>
  inDocument({ tab, signal }, 1, () => callInPage({ tab, signal }, 'countChanges'))
