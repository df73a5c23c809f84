import type { PageFunctions } from '../../../src/page/functions.ts'
import { attributeOf } from '../shared/dom.ts'
import { findRoots } from '../shared/tree.ts'
import { type EndlessDrawing, findEndlessDrawings } from './svg-animations.ts'

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
