import { screenshotIdOf } from '../identifiers/ids.ts'
import type { IgnoredElements } from '../kinds/comparison.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import { withDefaults } from '../options/catalog.ts'
import { ImageFormat } from '../options/output/image.ts'
import { accountOf, toWireStatus } from './record.ts'
import { objectKey } from './storage-keys.ts'

// Whether the picture of a screenshot can be compared with later ones. The gateway checks it before it creates a screenshot, the operator before a
// capture.

/** A picture to compare with. */
export interface StoredBaseline {
  key: string
  /** Absent in records of early versions. */
  etag?: string | undefined
  /** Areas that its own capture ignored. */
  ignored?: readonly IgnoredElements[] | undefined
}

/** Why a screenshot cannot be compared with. `message` continues a sentence after its id. */
export interface BaselineProblem {
  reason: 'pending' | 'failed' | 'format' | 'unfit'
  message: string
}

/** What is wrong with a screenshot as a baseline; undefined: nothing. Its file may still have expired. */
export function findBaselineProblem({ spec, status }: Pick<Screenshot, 'spec' | 'status'>): BaselineProblem | undefined {
  const { format } = withDefaults(spec.options)
  const state = toWireStatus(status?.phase)
  if (state === 'pending') return { reason: 'pending', message: 'has not completed yet' }
  if (state === 'failed') return { reason: 'failed', message: 'failed, so it has no picture' }
  if (!ImageFormat.safeParse(format).success) return { reason: 'format', message: `is a ${format}, and only pictures can be compared` }
  switch (status?.result?.unfit) {
    case 'blank':
      return { reason: 'unfit', message: 'shows one color and nothing else' }
    case 'bot_challenge':
      return { reason: 'unfit', message: 'shows a bot challenge instead of the page' }
    default:
      return undefined
  }
}

/** The picture of a screenshot without a {@link BaselineProblem}. */
export const toBaseline = (shot: Screenshot): StoredBaseline => ({
  key: objectKey(accountOf(shot), screenshotIdOf(shot.metadata), withDefaults(shot.spec.options).format),
  etag: shot.status?.result?.etag,
  ignored: shot.status?.result?.ignored,
})
