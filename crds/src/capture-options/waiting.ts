import { z } from 'zod'

export const WaitState = z.enum(['load', 'domcontentloaded', 'networkidle', 'commit'])
export type WaitState = z.infer<typeof WaitState>

const SELECTOR_LENGTH = 1024

/** A CSS selector. */
export const selector = (what: string) => z.string().min(1).max(SELECTOR_LENGTH).describe(what)

/** When the picture is taken (spec 2.2). */
export const waitingOptions = {
  delay: z.int().min(0).max(60000).describe('Milliseconds to wait before the picture is taken, 0 to 60000. Default: 0.'),
  timeout: z
    .int()
    .min(1000)
    .max(180000)
    .describe(
      'Milliseconds that the page may take to load, 1000 to 180000; the same bound holds for each selector that is waited for. Default: 30000.',
    ),
  waitForSelector: selector('CSS selector of an element to wait for before the picture is taken. Default: none.'),
  waitUntil: z
    .array(WaitState)
    .min(1)
    .max(4)
    .describe('States to wait for, all of them, within timeout: load, domcontentloaded, networkidle, commit. Default: load.'),
}

export const waitingDefaults = { delay: 0, timeout: 30000, waitUntil: ['load'] as WaitState[] }
