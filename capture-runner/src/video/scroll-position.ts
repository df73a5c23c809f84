// The scroll position of each moment of a video. Pure functions.

/** Speed of a scroll over its time, as in CSS. */
export type Easing = 'linear' | 'ease_in' | 'ease_out' | 'ease_in_out'

/** When a video scrolls. All in milliseconds. */
export interface ScrollTimes {
  /** Length of the video. */
  total: number
  /** Before the scroll starts, and at its end. */
  pause: number
  /** Of the scroll in one direction. Absent: all time that the pauses leave. */
  duration?: number | undefined
  easing: Easing
  /** Scrolls back to the top in the second half. */
  isBack: boolean
}

const CURVES: Readonly<Record<Easing, (share: number) => number>> = {
  linear: (share) => share,
  ease_in: (share) => share ** 3,
  ease_out: (share) => 1 - (1 - share) ** 3,
  ease_in_out: (share) => (share < 0.5 ? 4 * share ** 3 : 1 - (2 - 2 * share) ** 3 / 2),
}

/** How far the page is scrolled at a time, from 0 (top) to 1 (end). @param milliseconds since the first frame */
export function scrollShare({ total, pause, duration, easing, isBack }: ScrollTimes, milliseconds: number): number {
  // The way back mirrors the way down, and one pause lies between them.
  const time = isBack ? Math.min(milliseconds, total - milliseconds) : milliseconds
  const available = isBack ? (total - 3 * pause) / 2 : total - 2 * pause
  const length = Math.max(1, duration ?? available)
  return CURVES[easing](Math.min(1, Math.max(0, (time - pause) / length)))
}
