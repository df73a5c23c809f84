import { z } from 'zod'

/** Captures beyond the window (spec 2.2). */
export const fullPageOptions = {
  fullPage: z.boolean().describe('Captures the whole scrollable page instead of the window. Default: false.'),
  fullPageMaxHeight: z
    .int()
    .min(1000)
    .max(50000)
    .describe('Height at which a full-page picture ends, in CSS pixels, 1000 to 50000. Default: 25000.'),
}

export const fullPageDefaults = { fullPage: false, fullPageMaxHeight: 25000 }
