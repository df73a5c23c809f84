import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { OptionPolicy } from '@tintype/crds/options/policy'
import type { CacheDeps } from '../../cache/find-picture.ts'
import type { Idempotency } from '../../creation/idempotency.ts'
import type { Queue } from '../../creation/queue.ts'
import type { UncertainCreates } from '../../creation/uncertain-creates.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { OptionsDeps } from '../../options/store-options.ts'
import type { FileStore, QuotaStore, RecordArchive, RecordStore, ScreenshotStore } from '../../store/ports.ts'
import type { Downloads } from '../files/downloads.ts'
import type { LinkDeps } from './links.ts'
import type { UrlRules } from './options/options-body.ts'

export interface ScreenshotsDeps extends LinkDeps, UrlRules, Omit<OptionsDeps, 'objects'>, Omit<CacheDeps, 'objects'> {
  objects: OptionsDeps['objects'] & CacheDeps['objects']
  screenshots: ScreenshotStore
  files: FileStore
  archive: RecordArchive
  quota: QuotaStore
  idempotency: Idempotency
  queue: Queue
  uncertainCreates: Pick<UncertainCreates, 'add'>
  downloads: Downloads
  metrics: Pick<Metrics, 'screenshotsCreated' | 'cacheLookUps'>
  /** Options that the service allows. */
  optionPolicy: OptionPolicy
  /** Width of the thumbnail of screenshots that ask for none, in pixels. 0: none. */
  thumbnailWidth: number
  webhooks: RecordStore<Webhook>
  /** Aborts on shutdown. Held requests then end with the current state. */
  draining: AbortSignal
}

/** Poll interval for clients while a capture is pending, in seconds. */
export const POLL_SECONDS = '2'
