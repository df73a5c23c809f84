import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { artifactsOf } from '@tintype/crds/options/artifacts'
import { withDefaults } from '@tintype/crds/options/catalog'
import { CONTENT_TYPES } from '@tintype/crds/options/output/formats'
import type { StoredBaseline } from '@tintype/crds/records/approval'
import { accountOf } from '@tintype/crds/records/record'
import { objectKey, objectKeyPrefix } from '@tintype/crds/records/storage-keys'
import { spanIds, type TraceContext, toTraceparent, traceOf } from '@tintype/crds/runtime/trace-context'
import type { OpenedOptions } from '../../options/open-options.ts'
import type { Storage } from '../../storage/storage.ts'
import { attemptsOf, deadlineOf, isWatched, uploadExpiryOf } from './status.ts'

/** Prefix of a Screenshot's files. It is not read from the status, because a runner could have changed that. */
export const filesOf = (shot: Screenshot): string => objectKeyPrefix(accountOf(shot), screenshotIdOf(shot.metadata))

/** Maximum size of a text whose words are compared. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024

/** Input of an order besides the Screenshot. */
export interface OrderParts extends OpenedOptions {
  /** The picture to compare with. */
  baseline?: StoredBaseline | undefined
  maxFileBytes: number
  now: Date
}

/** Builds the order for the claimed attempt. */
export function buildOrder(
  shot: Screenshot,
  storage: Pick<Storage, 'presignGet' | 'presignPut'>,
  { maxFileBytes, now, options, privateOptions, baseline }: OrderParts,
): CaptureOrder {
  const { metadata, spec } = shot
  const accountName = accountOf(shot)
  const { format } = withDefaults(spec.options)
  const trace = toOrderTrace(shot)
  const expiresAt = uploadExpiryOf(shot)
  const uploadOf = (extension: string, contentType: string) => ({
    ...storage.presignPut({ key: objectKey(accountName, screenshotIdOf(metadata), extension), contentType, expiresAt, now }),
    maxBytes: maxFileBytes,
  })
  const artifacts = artifactsOf(spec.options).map(({ type, extension, contentType }) => ({
    type,
    upload: uploadOf(extension, contentType),
  }))
  const toOrderBaseline = ({ key, etag, ignored, finalUrl, forms, engine, text }: StoredBaseline) => ({
    ...storage.presignGet({ key, etag, expiresAt, now }),
    maxBytes: maxFileBytes,
    ...(ignored ? { ignored: [...ignored] } : {}),
    ...(finalUrl === undefined ? {} : { finalUrl }),
    ...(forms ? { forms: [...forms] } : {}),
    ...(engine ? { engine } : {}),
    ...(text ? { text: { ...storage.presignGet({ ...text, expiresAt, now }), maxBytes: MAX_TEXT_BYTES } } : {}),
  })
  return {
    uid: metadata.uid,
    name: metadata.name,
    namespace: metadata.namespace,
    accountName,
    ...(spec.batchId === undefined ? {} : { batchId: spec.batchId }),
    attempt: attemptsOf(shot),
    url: spec.url,
    ...(options ? { options } : {}),
    ...(privateOptions ? { privateOptions } : {}),
    upload: uploadOf(format, CONTENT_TYPES[format]),
    ...(artifacts.length > 0 ? { artifacts } : {}),
    ...(baseline ? { baseline: toOrderBaseline(baseline) } : {}),
    ...(isWatched(spec) ? { isWatched: true } : {}),
    ...(spec.scheduleRef?.moving ? { moving: spec.scheduleRef.moving } : {}),
    deadline: deadlineOf(shot).getTime(),
    ...(trace ? { traceparent: toTraceparent(trace) } : {}),
  }
}

/** Trace context of an order: the runner's spans are children of this attempt's span. */
export const toOrderTrace = (shot: Screenshot): TraceContext | undefined => {
  const trace = traceOf(shot)
  return trace && { ...trace, spanId: spanIds.capture(shot.metadata.uid, shot.status?.attempt ?? 0) }
}
