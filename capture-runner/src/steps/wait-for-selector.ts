import { findElement } from './find-element.ts'
import type { Step } from './step.ts'

/** Waits until an element is there and visible. */
export const waitForSelector: Step = {
  name: 'waitForSelector',
  isWanted: (plan) => plan.waitForSelector !== undefined,
  run: (work) => findElement(work, work.plan.waitForSelector ?? ''),
}
