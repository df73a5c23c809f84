import type { PageFunctions } from '../../../src/page/functions.ts'

// Idle callbacks are called in the order of their requests, so all earlier ones have been called.
export const whenIdle: PageFunctions['whenIdle'] = () => new Promise((resolve) => requestIdleCallback(() => resolve()))
