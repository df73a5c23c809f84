import type { PageFunctions } from '../../../src/page/functions.ts'
import { nameOf, queryAll, type Root } from '../shared/dom.ts'
import { createGrowth, hasGrownBy, isFirstChange, recall, remember } from '../shared/state.ts'
import { findRoots } from '../shared/tree.ts'
import { advanceDrawings, type Drawings, isEndless, isSvgAnimation, neverEnds, noteDrawing, runsOnTime } from './animations.ts'

/** Elements that may move without a change of the document, SVG images among them. */
const MOVING = 'canvas, marquee, animate, animateMotion, animateTransform, set, img[src*=".svg" i], img[src^="data:image/svg" i]'

/** Skips infinite and scroll-driven animations. The first call in a document reports no changes, because it only starts to observe them. */
export const advanceAnimations: PageFunctions['advanceAnimations'] = (milliseconds, left) => {
  const watch = recall('tintypeMotion') ?? remember('tintypeMotion', createWatch())
  let animations = 0
  let [endless, canvases, marquees] = [0, 0, 0]
  let hasDrawnImages = false
  const drawings: Drawings = new Map()
  for (const root of findRoots()) {
    if (!watch.roots.has(root)) {
      watch.roots.add(root)
      watch.observer.observe(root, EVERYTHING)
    }
    for (const animation of root.getAnimations()) {
      if (isEndless(animation)) endless++
      if (!goesToEnd(animation)) continue
      if (isFirstChange(watch.growth, targetOf(animation))) watch.hasGrown = true
      if (advance(animation, milliseconds, left)) animations++
    }
    for (const element of queryAll(root, MOVING)) {
      if (isSvgAnimation(element)) {
        noteDrawing(drawings, element)
        if (neverEnds(element)) endless++
      } else if (nameOf(element) === 'canvas') canvases++
      else if (nameOf(element) === 'marquee') marquees++
      else hasDrawnImages = true
    }
  }
  animations += advanceDrawings(drawings, milliseconds, left)
  watch.note(watch.observer.takeRecords())
  const { changes, hasGrown } = watch
  watch.changes = 0
  watch.hasGrown = false
  return { hasChanges: changes > 0, hasGrown, animations, endless, canvases, marquees, hasDrawnImages }
}

function createWatch() {
  const note = (records: readonly MutationRecord[]) => {
    watch.changes += records.length
    for (const record of records) if (hasGrownBy(watch.growth, record)) watch.hasGrown = true
  }
  const watch = {
    roots: new Set<Root>(),
    growth: createGrowth(),
    changes: 0,
    hasGrown: false,
    note,
    observer: new MutationObserver(note),
  }
  return watch
}

const targetOf = ({ effect }: Animation): Node => (effect instanceof KeyframeEffect && effect.target) || document

/** True if the animation is running, ends, and depends on time alone. */
const goesToEnd = (animation: Animation): boolean =>
  runsOnTime(animation) && animation.playbackRate > 0 && endOf(animation) < Number.POSITIVE_INFINITY

/** An effect without a time in milliseconds never ends. */
function endOf({ effect }: Animation): number {
  const end = effect?.getComputedTiming().endTime
  return typeof end === 'number' ? end : Number.POSITIVE_INFINITY
}

/** True if the animation goes on and ends within the remaining time. */
function advance(animation: Animation, milliseconds: number, left: number): boolean {
  const end = endOf(animation)
  const next = Number(animation.currentTime ?? 0) + milliseconds * animation.playbackRate
  if (milliseconds > 0 && next >= end) {
    animation.finish()
    return false
  }
  if (milliseconds > 0) animation.currentTime = next
  return (end - next) / animation.playbackRate <= left
}

export const EVERYTHING = { subtree: true, childList: true, attributes: true, characterData: true }

/** The observer's callback, where scripts run, only counts. */
export const countChanges: PageFunctions['countChanges'] = () => {
  const watch = recall('tintypeChanges') ?? remember('tintypeChanges', startWatch())
  const changes = watch.count + watch.observer.takeRecords().length
  watch.count = 0
  return changes
}

function startWatch() {
  const observer = new MutationObserver((records) => {
    watch.count += records.length
  })
  const watch = { count: 0, observer }
  observer.observe(document, EVERYTHING)
  return watch
}
