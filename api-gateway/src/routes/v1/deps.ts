import type { EgressRules } from '@tintype/crds/address-rules'
import type { OptionPolicy } from '@tintype/crds/capture-options/policy'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { CacheDeps } from '../../cache/find-picture.ts'
import type { Idempotency } from '../../create/idempotency.ts'
import type { Queue } from '../../create/queue.ts'
import type { UncertainCreates } from '../../create/uncertain-creates.ts'
import type { Metrics } from '../../metrics.ts'
import type { OptionsDeps } from '../../options/store-options.ts'
import type { FileStore, QuotaStore, RecordArchive, RecordStore, ScreenshotStore } from '../../store/ports.ts'
import type { Downloads } from '../downloads.ts'
import type { LinkDeps } from '../links.ts'

/** What the routes of screenshots need. */
export interface ScreenshotsDeps extends LinkDeps, Omit<OptionsDeps, 'objects'>, Omit<CacheDeps, 'objects'> {
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
  /** What may be captured, as far as an address itself tells; the runners' guard decides the rest. */
  egress: EgressRules
  /** Which kinds of options whoever runs the service allows. */
  optionPolicy: OptionPolicy
  webhooks: RecordStore<Webhook>
  /** Where events may be posted to, as far as an address itself tells. */
  webhookRules: EgressRules
  /** Aborts when this process is about to end: held requests are answered with what is known then. */
  draining: AbortSignal
}

/** Seconds after which a client should look again while a capture is pending. */
export const POLL_SECONDS = '2'

/** Where a record is read. The prefix is the documented one, whichever the request used. */
export const pathOf = (id: string): string => `/api/v1/screenshots/${id}`
