import type { PageFunctions } from '../../../src/page/functions.ts'
import { attributeOf, setStyle } from '../shared/dom.ts'
import { findMatches, findRoots } from '../shared/tree.ts'

/** A canceled animation would show the element without it, which may be invisible. So infinite ones rest at their first frame. */
export const endAnimations: PageFunctions['endAnimations'] = () => {
  for (const animation of findRoots().flatMap((root) => root.getAnimations())) {
    try {
      const { endTime, delay = 0 } = animation.effect?.getComputedTiming() ?? {}
      if (endTime === Number.POSITIVE_INFINITY) {
        animation.pause()
        animation.currentTime = Math.max(0, delay)
      } else animation.finish()
    } catch {}
  }
  endDrawings()
  return findMatches('marquee').length > 0
}

export const rewindMedia: PageFunctions['rewindMedia'] = () => {
  for (const media of findMatches('video, audio') as HTMLMediaElement[]) {
    media.autoplay = false
    media.pause()
    if (media.currentTime > 0) media.currentTime = 0
  }
}

export const isSeeking: PageFunctions['isSeeking'] = () => (findMatches('video') as HTMLVideoElement[]).some((video) => video.seeking)

/** An animation would have a layer of its own, in which letters look different by where it was before. So the element is placed without one. */
export const restInMarquees: PageFunctions['restInMarquees'] = (...roots: ShadowRoot[]) => {
  let areAllAtRest = true
  for (const root of roots) {
    const mover = root.querySelector('div')
    if (mover?.style.willChange !== '') continue
    // Between two rounds, the last one and the next one are both there.
    const [animation, ...others] = root.getAnimations().reverse()
    for (const other of others) other.cancel()
    const end = animation?.effect?.getComputedTiming().endTime
    if (!animation || typeof end !== 'number') {
      areAllAtRest = false
      continue
    }
    animation.pause()
    animation.currentTime = attributeOf(root.host, 'behavior')?.toLowerCase() === 'slide' ? end : end / 2
    const { m41, m42 } = new DOMMatrix(getComputedStyle(mover).transform)
    animation.cancel()
    setStyle(mover, { transform: `translate(${Math.round(m41)}px, ${Math.round(m42)}px)`, 'will-change': 'auto' })
  }
  return areAllAtRest
}

/**
 * What is added to the time, one after the other, while animations hide all that they animate, such as a cursor that blinks. Not zero, because most rounds
 * begin at a full tenth of a second, and many with something that is transparent.
 */
const STEPS = [140, 490, 840, 1_190] as const
/** Computed values of an animated property that leave nothing to see. */
const HIDING = /^(0(\.0\d*)?|hidden|rgba\(.*, 0\)|.*\/ 0\)|matrix\(0, 0, 0, 0, .*)$/

interface EndlessAnimation extends Animation {
  effect: KeyframeEffect & { target: Element }
}

/** Animations that get the same time. */
interface Group {
  show: (milliseconds: number) => void
  isHidden: () => boolean
}

/** True if the animation is running, and depends on time alone. */
export const runsOnTime = ({ playState, timeline }: Animation): boolean =>
  playState === 'running' && timeline !== null && !('source' in timeline)

/** True if such an animation never ends. */
export function isEndless(animation: Animation): animation is EndlessAnimation {
  const effect = animation.effect as KeyframeEffect | null
  return runsOnTime(animation) && effect?.target != null && effect.getComputedTiming().endTime === Number.POSITIVE_INFINITY
}

export const restAnimations: PageFunctions['restAnimations'] = (milliseconds) => {
  let groups = [...findGroups(), ...findEndlessDrawings().map(toGroup)]
  for (const step of STEPS) {
    for (const { show } of groups) show(milliseconds + step)
    groups = groups.filter(({ isHidden }) => isHidden())
    if (groups.length === 0) return
  }
  for (const { show } of groups) show(milliseconds + STEPS[0])
}

/** Animations with the same keyframes belong together, such as the slides of a slideshow: most of them are hidden, and their delays must remain. */
function findGroups(): Group[] {
  const animations = findRoots()
    .flatMap((root) => root.getAnimations())
    .filter(isEndless)
  return [...Map.groupBy(animations, keyframesOf).values()].map((group) => ({
    show: (milliseconds) => {
      for (const animation of group) {
        animation.pause()
        animation.currentTime = milliseconds
      }
    },
    isHidden: () => group.every(({ effect }) => hides(effect)),
  }))
}

const keyframesOf = (animation: EndlessAnimation): string =>
  (animation as Partial<CSSAnimation>).animationName ?? JSON.stringify(animation.effect.getKeyframes())

/** A drawing has one clock. */
const toGroup = ({ stopAt, animations }: EndlessDrawing): Group => ({
  show: (milliseconds) => stopAt(milliseconds / 1_000),
  isHidden: () =>
    animations.every((animation) => {
      const property = attributeOf(animation, 'attributeName') ?? ''
      return animation.targetElement && HIDING.test(getComputedStyle(animation.targetElement).getPropertyValue(property))
    }),
})

/** Whether an animation leaves nothing to see of its target now. */
function hides(effect: EndlessAnimation['effect']): boolean {
  const style = getComputedStyle(effect.target, effect.pseudoElement) as unknown as Record<string, unknown>
  const properties = new Set(effect.getKeyframes().flatMap(Object.keys))
  return [...properties].some((property) => HIDING.test(String(style[property])))
}

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
