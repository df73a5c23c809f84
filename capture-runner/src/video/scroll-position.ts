// The scroll position of each moment of a video. Pure functions.

/** Speed of a scroll over its time. */
export type Easing = 'linear' | 'ease_in' | 'ease_out' | 'ease_in_out'

/** A video that scrolls shows the top, one scroll, the end, and with `back` a second scroll. Then it rests. Times are in milliseconds. */
export interface ScrollTimes {
  /** Before the scroll starts, and at its end. */
  pause: number
  /** One scroll. */
  scroll: number
  easing: Easing
  /** Scrolls back to the top after the pause at the end. */
  back: boolean
}

const CURVES: Readonly<Record<Easing, (share: number) => number>> = {
  linear: (share) => share,
  ease_in: (share) => share ** 3,
  ease_out: (share) => 1 - (1 - share) ** 3,
  ease_in_out: (share) => (share < 0.5 ? 4 * share ** 3 : 1 - (2 - 2 * share) ** 3 / 2),
}

/** How far the page is scrolled at a time, from 0 (top) to 1 (end). @param milliseconds since the first frame */
export function scrollShare({ pause, scroll, easing, back }: ScrollTimes, milliseconds: number): number {
  const at = (begin: number): number => CURVES[easing](Math.min(1, Math.max(0, (milliseconds - begin) / scroll)))
  return back ? at(pause) - at(2 * pause + scroll) : at(pause)
}
