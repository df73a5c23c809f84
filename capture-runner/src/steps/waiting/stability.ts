import { MAX_MOVING_ELEMENTS, MAX_MOVING_SELECTOR, type MovingParts } from '@tintype/crds/kinds/comparison'
import { callInPage } from '../../page/call.ts'
import type { WindowShare } from '../../page/functions.ts'
import { inDocument, type Step, type Work } from '../step.ts'
import { isMoving, namesOf } from './motion.ts'
import { whileTimePasses } from './page-time.ts'
import { settle } from './settle.ts'
import { AREA_TOLERANCE, findMoved, mergeAreas, takeSmallPicture } from './small-picture.ts'
import { StabilityWait } from './stability-wait.ts'
import { restEndless } from './still-page.ts'

// The bounded wait for visual stability (ADR 34). Timers, frames and animations of the page advance together, faster than real time, and pending
// requests are waited for. It compares screenshots only if scripts still run after that. A tab that draws by itself waits in real time.

/** Milliseconds between two compared screenshots. */
const PICTURES_MILLISECONDS = 100
/** How much later the second load of a comparison shows what moves: no multiple of the time above. */
const OTHER_MILLISECONDS = 80
/** Real time, and pairs of screenshots, after which what moved in the last run of the schedule is not waited for. */
const KNOWN_MILLISECONDS = 1_000
const KNOWN_PAIRS = 3

/** Waits until the page is visually stable, for a bounded time. */
export const stability: Step = {
  name: 'stability',
  onFailure: 'warn',
  isWanted: (plan) => plan.stabilityMilliseconds > 0,
  run: async (work) => {
    await work.clock?.hold()
    const wait = new StabilityWait(work)
    const motion = await wait.run()
    wait.reportTime()
    await wait.restMarquees()
    const hasStopped = await wait.hasStoppedScripts(motion)
    if (wait.hasOverrun || work.hasEndedTask || (work.plan.isStabilityTelling && wait.isCutShort))
      work.findings.moving = { elements: [], isEndless: true }
    if (hasStopped || !isMoving(motion)) return
    // What they paint outside of their boxes would never rest.
    await restEndless(work)
    const areas = await waitForRest(work, wait)
    if (areas.length === 0) return
    // What both loads of a comparison show would count as a change.
    if (work.plan.isSecondLoad) await wait.passInFrames(OTHER_MILLISECONDS)
    const moving = await nameMoving(work, areas)
    work.findings.moving = { ...work.findings.moving, ...moving }
    const where = moving.elements.length > 0 ? ` in ${moving.elements.join(', ')}. compare_ignore leaves elements out` : ''
    work.findings.warnings.push(`the page was still moving when the picture was taken: ${namesOf(motion).join(', ')}${where}`)
  },
}

const NO_NAMES: (string | null)[] = []

/** Names the elements in areas of the window. An area without an element of its own makes the whole page a moving one. */
async function nameMoving(work: Work, areas: readonly WindowShare[]): Promise<MovingParts> {
  const names = await inDocument(work, NO_NAMES, () => callInPage(work, 'nameElements', areas, AREA_TOLERANCE))
  const elements = [...new Set(names)].filter((name) => name !== null).filter(({ length }) => length <= MAX_MOVING_SELECTOR)
  return { elements: elements.slice(0, MAX_MOVING_ELEMENTS), ...(names.includes(null) ? { isEndless: true } : {}) }
}

/**
 * Waits until two successive screenshots show the same. Returns the areas that do not rest. What moved in the last run of the schedule is waited for
 * only briefly.
 */
async function waitForRest(work: Work, wait: StabilityWait): Promise<WindowShare[]> {
  const until = work.plan.stabilityPicturesMilliseconds
  const began = wait.passed
  const seen: WindowShare[][] = []
  let before = await takeSmallPicture(work)
  for (;;) {
    await wait.passInFrames(PICTURES_MILLISECONDS)
    const after = await takeSmallPicture(work)
    const { moved, isKnown } = await findMoved(work, before, after)
    if (moved.length === 0) return []
    seen.push(moved)
    const isExpected = isKnown && seen.length >= KNOWN_PAIRS && wait.passed - began > KNOWN_MILLISECONDS
    // What came to rest meanwhile is in the first half.
    if (isExpected || wait.passed > until) return mergeAreas(seen.slice(Math.floor(seen.length / 2)).flat())
    before = after
  }
}

/** Waits for images that the page added during the wait for stability, and for the effects of their arrival, such as a fade. */
export const lateImages: Step = {
  name: 'lateImages',
  isWanted: (plan) => plan.imagesMilliseconds !== undefined && plan.stabilityMilliseconds > 0,
  run: async (work) => {
    if (work.tab.lifecycle.pendingImages.length === 0) return
    await whileTimePasses(work, settle.run(work))
    await stability.run(work)
  },
}
