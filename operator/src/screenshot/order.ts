import { withDefaults } from '@tintype/crds/capture-options/catalogue'
import { CONTENT_TYPES } from '@tintype/crds/capture-options/image'
import type { CaptureOrder } from '@tintype/crds/dispatch'
import { screenshotIdOf } from '@tintype/crds/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/record'
import { objectKey, objectKeyPrefix } from '@tintype/crds/storage-keys'
import type { OpenedOptions } from '../options/open-options.ts'
import type { Storage } from '../storage/storage.ts'
import { attemptsOf, deadlineOf, uploadExpiryOf } from './status.ts'

/** Prefix of a Screenshot's files. Never from its status: a runner could have written that. */
export const filesOf = (shot: Screenshot): string => objectKeyPrefix(accountOf(shot), screenshotIdOf(shot.metadata))

/** What an order is made of besides the Screenshot. */
export interface OrderParts extends OpenedOptions {
  maxFileBytes: number
  now: Date
}

/** What a runner is told about the claimed attempt. */
export function buildOrder(
  shot: Screenshot,
  storage: Pick<Storage, 'presignPut'>,
  { maxFileBytes, now, options, privateOptions }: OrderParts,
): CaptureOrder {
  const { metadata, spec } = shot
  const accountName = accountOf(shot)
  const { format } = withDefaults(spec.options)
  const upload = storage.presignPut({
    key: objectKey(accountName, screenshotIdOf(metadata), format),
    contentType: CONTENT_TYPES[format],
    expiresAt: uploadExpiryOf(shot),
    now,
  })
  return {
    uid: metadata.uid,
    name: metadata.name,
    namespace: metadata.namespace,
    accountName,
    attempt: attemptsOf(shot),
    url: spec.url,
    ...(options ? { options } : {}),
    ...(privateOptions ? { privateOptions } : {}),
    upload: { ...upload, maxBytes: maxFileBytes },
    deadline: deadlineOf(shot).getTime(),
  }
}
