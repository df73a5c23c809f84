/** One bar of the timing of a capture, in milliseconds. */
export interface Bar {
  name: string
  start: number
  length: number
}

/** Bars of the steps, one after the other, as the runner executes them. Steps without a measurable duration are left out. */
export function toWaterfall(steps: Readonly<Record<string, number>>): { bars: readonly Bar[]; total: number } {
  const bars: Bar[] = []
  let total = 0
  for (const [name, length] of Object.entries(steps)) {
    if (length > 0) bars.push({ name, start: total, length })
    total += length
  }
  return { bars, total }
}

/** `full_page_height` → `full page height`. */
export const toStepTitle = (name: string): string => name.replaceAll('_', ' ')
