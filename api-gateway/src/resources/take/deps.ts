import type { PictureMemory } from '../../cache/find-picture.ts'
import type { SharedCaptures } from '../../creation/shared-captures.ts'
import type { SignedPlansDeps } from '../../creation/signed-plans.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { CallLimits } from '../../quota/limits.ts'
import type { ScreenshotsDeps } from '../screenshots/deps.ts'
import type { LinkAuthDeps } from './authenticate.ts'
import type { ParsedLinks } from './parsed-link.ts'

export interface TakeDeps extends Omit<ScreenshotsDeps, 'metrics' | 'objects'>, LinkAuthDeps {
  objects: ScreenshotsDeps['objects'] & SignedPlansDeps['objects']
  sharedCaptures: SharedCaptures
  /** Pictures of links in memory. */
  pictures: PictureMemory
  parsedLinks: ParsedLinks
  calls: CallLimits
  metrics: Pick<Metrics, 'screenshotsCreated' | 'cacheLookUps' | 'linkRequests' | 'linkCaptures'>
}
