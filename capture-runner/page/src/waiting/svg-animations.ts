import { findMatches } from '../shared/tree.ts'

/** Collects the animations of drawings. */
export type Drawings = Map<SVGSVGElement, SVGAnimationElement[]>

export const isSvgAnimation = (element: Element): element is SVGAnimationElement => 'getSimpleDuration' in element

/** Adds an animation to its outermost drawing, which has the clock. */
export function noteDrawing(drawings: Drawings, animation: SVGAnimationElement): void {
  let drawing = animation.ownerSVGElement
  while (drawing?.ownerSVGElement) drawing = drawing.ownerSVGElement
  if (drawing) drawings.set(drawing, [...(drawings.get(drawing) ?? []), animation])
}

/** The elements of a drawing that move it. */
const MOVING = 'animate, animateMotion, animateTransform, set'

function findDrawings(): Drawings {
  const drawings: Drawings = new Map()
  for (const element of findMatches(MOVING)) if (isSvgAnimation(element)) noteDrawing(drawings, element)
  return drawings
}

/** Stops the clocks of drawings when their finite animations are over and their infinite ones show their first frame. */
export function endDrawings(): void {
  for (const [drawing, animations] of findDrawings()) {
    drawing.pauseAnimations()
    // When an animation begins may depend on the current time, because it can follow others.
    drawing.setCurrentTime(0)
    drawing.setCurrentTime(Math.max(0, ...animations.map((animation) => Math.max(startOf(animation) ?? 0, endOf(animation)))))
  }
}

/** Advances the clocks of drawings. Returns the number of finite animations that go on and end within the remaining time. */
export function advanceDrawings(drawings: Drawings, milliseconds: number, left: number): number {
  let count = 0
  for (const [drawing, animations] of drawings) {
    if (drawing.animationsPaused()) continue
    if (milliseconds > 0) drawing.setCurrentTime(drawing.getCurrentTime() + milliseconds / 1_000)
    const now = drawing.getCurrentTime()
    const rests = animations.map((animation) => (endOf(animation) - now) * 1_000)
    count += rests.filter((rest) => rest > 0 && rest <= left).length
  }
  return count
}

/** A drawing that never rests. */
export interface EndlessDrawing {
  /** Stops its clock at this time, but not before the end of a finite animation that is over. */
  stopAt: (seconds: number) => void
  /** Its endless animations. */
  animations: readonly SVGAnimationElement[]
}

export const findEndlessDrawings = (): EndlessDrawing[] =>
  [...findDrawings()].flatMap(([drawing, animations]) => {
    const endless = animations.filter(neverEnds)
    if (endless.length === 0 || drawing.animationsPaused()) return []
    const now = drawing.getCurrentTime()
    const over = Math.max(0, ...animations.map(endOf).filter((end) => end <= now))
    const stopAt = (seconds: number) => {
      drawing.pauseAnimations()
      drawing.setCurrentTime(Math.max(seconds, over))
    }
    return { stopAt, animations: endless }
  })

export const neverEnds = (animation: SVGAnimationElement): boolean =>
  animation.getAttribute('repeatCount') === 'indefinite' || animation.getAttribute('repeatDur') === 'indefinite'

/** Seconds on the drawing's clock; 0 if the animation never ends or has not begun. What has no duration changes at its start. */
function endOf(animation: SVGAnimationElement): number {
  if (neverEnds(animation) || animation.hasAttribute('repeatDur')) return 0
  const start = startOf(animation)
  return start === undefined ? 0 : start + durationOf(animation) * Number(animation.getAttribute('repeatCount') ?? '1')
}

/** Seconds on the drawing's clock; undefined if nothing has started the animation. */
function startOf(animation: SVGAnimationElement): number | undefined {
  try {
    return animation.getStartTime()
  } catch {
    return undefined
  }
}

/** Seconds; 0 if it has no duration, such as a `<set>`. */
function durationOf(animation: SVGAnimationElement): number {
  try {
    return animation.getSimpleDuration()
  } catch {
    return 0
  }
}
