import { callInPage } from '../page/call.ts'
import type { HideReason, Presence, Wanted } from '../page/functions.ts'
import { CaptureError } from '../runtime/errors.ts'
import { bounded, pause } from '../runtime/race.ts'
import { inDocument, type Work } from './step.ts'
import { includeClosedRoots } from './whole-page.ts'

/** Milliseconds between two checks. The first checks follow quickly, because most elements exist already. */
const INTERVALS = [0, 20, 50, 100]
/** Checks after which closed shadow roots are searched, too: the fourth, and then every two seconds. */
const CLOSED_FIRST = 3
const CLOSED_EVERY = 20

/** How to show a match that is hidden for a reason. */
const REASONS: Readonly<Record<HideReason, string>> = {
  details: 'is in a closed <details>. Open it with click_all, such as details > summary',
  dialog: 'is in a closed dialog or popover. Open it with click',
  skipped: 'is not rendered (content-visibility: hidden). Show it with styles',
  hidden: 'is hidden. Show it with styles or click, or wait for it with wait_for_selector',
}

/**
 * Waits until elements match.
 * @param hiddenMilliseconds how long a hidden match may stay so in a page that loads nothing; content that only its reader opens may not. Absent: until the end
 * @throws CaptureError SELECTOR_NOT_FOUND after the plan's time
 */
export async function findElement(work: Work, selector: string, wanted: Wanted = {}, hiddenMilliseconds?: number): Promise<void> {
  const { elementMilliseconds } = work.plan
  const { isVisible = true, count = 1 } = wanted
  const what = `${count === 1 ? 'no' : `fewer than ${count}`} ${isVisible ? 'visible ' : ''}element${count === 1 ? '' : 's'}`
  let reason: HideReason | undefined
  let hiddenSince = performance.now()
  const notFound = (within = '') => {
    const advice = reason ? `. The first match ${REASONS[reason]}` : ''
    return new CaptureError('SELECTOR_NOT_FOUND', `${what} matched${within}: ${selector}${advice}`)
  }
  const isMet = (presence: Presence | undefined) => {
    reason = presence === 'there' || presence === 'absent' ? undefined : presence
    if (!reason || work.tab.lifecycle.isBusy) hiddenSince = performance.now()
    const isClosed = reason === 'details' || reason === 'skipped'
    if (reason && hiddenMilliseconds !== undefined && (isClosed || performance.now() - hiddenSince > hiddenMilliseconds)) throw notFound()
    return presence === 'there'
  }
  await pollUntil(work, { selector, wanted, isMet }, () => notFound(` within ${elementMilliseconds} ms`))
}

/** Waits until no visible element matches. @throws CaptureError TIMEOUT after the plan's time */
export async function awaitAbsence(work: Work, selector: string): Promise<void> {
  const { elementMilliseconds } = work.plan
  const notGone = () => new CaptureError('TIMEOUT', `an element was still visible after ${elementMilliseconds} ms: ${selector}`)
  await inDocument(work, undefined, () => includeClosedRoots(work))
  await pollUntil(work, { selector, wanted: {}, isMet: (presence) => presence !== undefined && presence !== 'there' }, notGone)
}

/** True when a visible element matches now. */
export async function isThere(work: Work, selector: string): Promise<boolean> {
  const query = { selector, wanted: {} }
  if ((await findPresence(work, query, work.signal)) === 'there') return true
  await inDocument(work, undefined, () => includeClosedRoots(work))
  return (await findPresence(work, query, work.signal)) === 'there'
}

interface Query {
  selector: string
  wanted: Wanted
}

interface Condition extends Query {
  isMet: (presence: Presence | undefined) => boolean
}

async function pollUntil(work: Work, condition: Condition, tooLate: () => Error): Promise<void> {
  using time = bounded(work.signal, work.plan.elementMilliseconds, tooLate)
  for (let i = 0; ; i++) {
    const presence = await findPresence(work, condition, time.signal)
    if (condition.isMet(presence)) return
    await work.tab.lifecycle.reach(['commit'], time.signal)
    if (i % CLOSED_EVERY === CLOSED_FIRST)
      await inDocument({ tab: work.tab, signal: time.signal }, undefined, () => includeClosedRoots({ ...work, signal: time.signal }))
    await pause(INTERVALS[Math.min(i, INTERVALS.length - 1)] ?? 0, time.signal)
  }
}

/** Undefined when the document changed during the evaluation; the caller retries in the next one. */
const findPresence = ({ tab }: Work, { selector, wanted }: Query, signal: AbortSignal): Promise<Presence | undefined> =>
  inDocument({ tab, signal }, undefined, () => callInPage({ tab, signal }, 'findPresence', selector, wanted))
