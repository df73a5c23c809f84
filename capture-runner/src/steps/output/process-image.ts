import { makeThumbnail, processPicture } from '../../picture/image-processing.ts'
import { abortable } from '../../runtime/race.ts'
import type { Step } from '../step.ts'

/** Converts the screenshot into its final form. */
export const process: Step = {
  name: 'process',
  isWanted: (plan) => plan.processing !== undefined,
  run: async ({ plan, findings, signal }) => {
    const { processing, fastPng, picture } = plan
    if (!processing || !findings.picture || picture.format === 'pdf') return
    const finish = { format: picture.format, quality: picture.quality, fastPng, processing }
    const processed = await abortable(processPicture(findings.picture, finish), signal)
    findings.picture = processed.picture
    findings.warnings.push(...processed.warnings)
  },
}

/** Creates the thumbnail. */
export const thumbnail: Step = {
  name: 'thumbnail',
  isWanted: (plan) => plan.thumbnail !== undefined,
  run: async ({ plan, findings, signal }) => {
    if (!plan.thumbnail || !findings.picture) return
    findings.files.set('thumbnail', await abortable(makeThumbnail(findings.picture, plan.thumbnail), signal))
  },
}
