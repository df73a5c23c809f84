import { screenshotIdOf } from '../identifiers/ids.ts'
import type { Engine, FormKind, IgnoredElements, UnfitReason } from '../kinds/comparison.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import { withDefaults } from '../options/catalog.ts'
import { ImageFormat } from '../options/output/formats.ts'
import { isStatusIn, toStatusRange } from '../options/rules/texts.ts'
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
  /** URL of its page after redirects, and the forms that the page shows. Absent in records of early versions. */
  finalUrl?: string | undefined
  forms?: readonly FormKind[] | undefined
  /** What drew the picture. Absent in records of early versions. */
  engine?: Engine | undefined
  /** The visible text of its page. */
  text?: { key: string; etag: string } | undefined
}

/** Why a screenshot cannot be compared with. `message` continues a sentence after its id. */
export interface BaselineProblem {
  reason: 'pending' | 'failed' | 'format' | 'unfit'
  message: string
}

const UNFIT: Readonly<Record<UnfitReason, string>> = {
  blank: 'shows one color and almost nothing else',
  bot_challenge: 'shows a bot challenge instead of the page',
  http_error: 'shows an error page; compare_accept_status accepts its status',
  login: 'shows a login form instead of the page',
  broken_off: 'shows a page whose response broke off',
}

/**
 * What is wrong with a screenshot as a baseline; undefined: nothing. Its file may still have expired.
 * @param acceptedStatus statuses from 400 on that the comparison accepts
 */
export function findBaselineProblem(
  { spec, status }: Pick<Screenshot, 'spec' | 'status'>,
  acceptedStatus: readonly string[] = [],
): BaselineProblem | undefined {
  const { format } = withDefaults(spec.options)
  const state = toWireStatus(status?.phase)
  if (state === 'pending') return { reason: 'pending', message: 'has not completed yet' }
  if (state === 'failed') return { reason: 'failed', message: 'failed, so it has no picture' }
  if (!ImageFormat.safeParse(format).success) return { reason: 'format', message: `is a ${format}, and only pictures can be compared` }
  const { unfit, httpStatus = 0 } = status?.result ?? {}
  if (unfit === undefined || (unfit === 'http_error' && isStatusIn(httpStatus, acceptedStatus.map(toStatusRange)))) return undefined
  return { reason: 'unfit', message: UNFIT[unfit] ?? 'does not show the page' }
}

/** The picture of a screenshot without a {@link BaselineProblem}. */
export function toBaseline(shot: Screenshot): StoredBaseline {
  const { etag, ignored, finalUrl, forms, engine, artifacts = [] } = shot.status?.result ?? {}
  const keyOf = (extension: string) => objectKey(accountOf(shot), screenshotIdOf(shot.metadata), extension)
  const text = artifacts.find(({ type }) => type === 'text')
  return {
    ...{ key: keyOf(withDefaults(shot.spec.options).format), etag, ignored, finalUrl, forms, engine },
    ...(text ? { text: { key: keyOf('txt'), etag: text.etag } } : {}),
  }
}
