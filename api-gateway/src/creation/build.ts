import { toObjectName } from '@tintype/crds/identifiers/names'
import type { ScreenshotPolicy } from '@tintype/crds/kinds/capture-policy'
import type { ScreenshotSpec } from '@tintype/crds/kinds/screenshot'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import type { CacheOptions } from '@tintype/crds/options/output/cache'
import type { RecordField } from '@tintype/crds/options/output/delivery'
import type { PrivateOptions } from '@tintype/crds/options/private'
import { mapConcurrently } from '@tintype/crds/runtime/lists'
import { type CacheDeps, findPicture } from '../cache/find-picture.ts'
import { type OptionsDeps, storeBatchOptions } from '../options/store-options.ts'
import type { NewScreenshot } from '../store/ports.ts'
import { buildScreenshot, type CreationPlan } from './plan.ts'

/** Options for the record and its links. */
export type RecordOptions = Pick<ScreenshotSpec, RecordField>

/** One URL with the options that apply only to it. */
export interface CaptureTarget {
  url: string
  /** Credentials from the URL. */
  privateOptions?: PrivateOptions | undefined
}

/** The options of a request, by kind. A kind without options can be absent. */
export interface RequestedOptions {
  options?: CaptureOptions | undefined
  privateOptions?: PrivateOptions | undefined
  cache?: CacheOptions | undefined
  record?: RecordOptions | undefined
}

/** A request to create screenshots of one or more URLs. */
export interface BuildRequest extends RequestedOptions {
  accountName: string
  targets: readonly CaptureTarget[]
  /** Hosts to which the API key limits its captures. */
  capturePolicy?: ScreenshotPolicy | undefined
  /** Trace of the request, which its captures continue. */
  traceparent?: string | undefined
}

export type BuildDeps = OptionsDeps & CacheDeps

/** Concurrent cache lookups. */
const LOOK_UPS = 16

/** Builds one object per URL, in order. Stores options that are private or too large for an object elsewhere first. */
export async function buildAll(
  wanted: BuildRequest,
  { ids, batchId, reservation, estimatedTime }: CreationPlan,
  deps: BuildDeps,
): Promise<NewScreenshot[]> {
  const { accountName, targets, capturePolicy, options, privateOptions, cache, record, traceparent } = wanted
  const owners = targets.map((address, index) => ({ ...address, name: toObjectName(ids[index] ?? '') }))
  const subject = batchId ?? owners[0]?.name ?? ''
  const stored = await storeBatchOptions({ options, privateOptions, account: accountName, subject, owners }, deps)
  const pictures = await mapConcurrently(targets, LOOK_UPS, ({ url, privateOptions: own }) =>
    findPicture({ account: accountName, url, options, privateOptions: { ...privateOptions, ...own }, policy: capturePolicy }, cache, deps),
  )
  return targets.map(({ url }, index) =>
    buildScreenshot(
      ids[index] ?? '',
      { url, accountName, ...record, ...stored[index], ...pictures[index], batchId, reservation, capturePolicy },
      { estimatedTime, traceparent },
    ),
  )
}
