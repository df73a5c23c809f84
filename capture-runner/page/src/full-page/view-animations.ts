import type { PageFunctions } from '../../../src/page/functions.ts'

/** A start or an end in a view timeline. */
type Offset = string | { rangeName?: string | null; offset?: { unit?: string; value?: number } | null } | null | undefined

/** An animation as the browser has it; the types of the DOM lack the newer properties. */
interface ViewAnimation {
  rangeStart?: Offset
  rangeEnd?: Offset
}

export const freezeViewAnimations: PageFunctions['freezeViewAnimations'] = (windowHeight) => {
  for (const animation of document.getAnimations()) {
    const { timeline, effect } = animation
    if (!(timeline instanceof ViewTimeline) || !effect) continue
    const subject = timeline.subject?.getBoundingClientRect().height ?? 0
    const { rangeStart, rangeEnd } = animation as ViewAnimation
    const start = shareOf(rangeStart, { subject, windowHeight, otherwise: 0 })
    const end = shareOf(rangeEnd, { subject, windowHeight, otherwise: 1 })
    const progress = end > start ? Math.min(1, Math.max(0, (0.5 - start) / (end - start))) : 1
    animation.timeline = document.timeline
    animation.pause()
    effect.updateTiming({ duration: 1000, delay: 0, endDelay: 0, fill: 'both' })
    animation.currentTime = progress * 1000
  }
}

/** Where a start or an end is on the way of the subject through the window, from 0 to 1. */
function shareOf(
  offset: Offset,
  { subject, windowHeight, otherwise }: { subject: number; windowHeight: number; otherwise: number },
): number {
  if (typeof offset !== 'object' || !offset?.offset) return otherwise
  const part = offset.offset.unit === 'percent' ? (offset.offset.value ?? 0) / 100 : 0
  const all = windowHeight + subject
  const [least, most] = [Math.min(windowHeight, subject) / all, Math.max(windowHeight, subject) / all]
  const ranges: Readonly<Record<string, readonly [number, number]>> = {
    cover: [0, 1],
    contain: [least, most],
    entry: [0, least],
    exit: [most, 1],
    'entry-crossing': [0, subject / all],
    'exit-crossing': [windowHeight / all, 1],
  }
  const [from, to] = ranges[offset.rangeName ?? ''] ?? [0, 1]
  return from + part * (to - from)
}
