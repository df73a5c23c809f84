import { addStyles } from '../injection/add-styles.ts'
import type { Step } from '../step.ts'

/** Magnifies the page of a PDF. Other captures have a window with larger CSS pixels. */
export const zoom: Step = {
  name: 'zoom',
  onFailure: 'repeat',
  isForDocument: true,
  isWanted: (plan) => plan.zoom !== undefined,
  run: (work) => addStyles(work, `html { zoom: ${work.plan.zoom ?? 1} !important }`),
}
