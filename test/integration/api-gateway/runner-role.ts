import { createHash } from 'node:crypto'
import { mergePatch } from '../../../crds/client/resource.ts'
import { toId, toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { CaptureError, CaptureResult, Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { artifactsOf } from '../../../crds/src/options/artifacts.ts'
import { withDefaults } from '../../../crds/src/options/catalog.ts'
import { CONTENT_TYPES } from '../../../crds/src/options/output/formats.ts'
import { accountOf } from '../../../crds/src/records/record.ts'
import { objectKey } from '../../../crds/src/records/storage-keys.ts'
import type { World } from './world.ts'

/** The API server and the store. */
type Stores = Pick<World, 'screenshots' | 'bucket'>

// Acts as operator and runner towards a gateway: a stored file, and one patch with claim and result.

const claim = { pod: 'runner-1', uid: '6b1f7f0e-0000-4000-8000-000000000001' }

/** Claim and result are one patch: an operator that runs beside the test would end a claim of a pod that does not exist. */
async function report(name: string, status: Record<string, unknown>, { screenshots }: Pick<Stores, 'screenshots'>): Promise<void> {
  const time = new Date().toISOString()
  const reported = { runner: claim, attempt: 1, startTime: time, completionTime: time, ...status }
  await screenshots.patch(name, mergePatch({ status: reported }), { subresource: 'status' })
}

/** The storage key of a screenshot's picture. */
export const keyOf = (screenshot: Screenshot): string => {
  const { format } = withDefaults(screenshot.spec.options)
  return objectKey(accountOf(screenshot), toId(screenshot.metadata.name), format)
}

/** Stores `bytes` as the picture and as each additional file, and reports the capture as completed. @param more fields of the result */
export async function complete(id: string, bytes: Buffer, world: Stores, more: Partial<CaptureResult> = {}): Promise<void> {
  const screenshot = await world.screenshots.get(toObjectName(id))
  const { format } = withDefaults(screenshot.spec.options)
  await world.bucket.putObject('tintype', keyOf(screenshot), bytes, bytes.length, { 'content-type': CONTENT_TYPES[format] })
  const etag = createHash('md5').update(bytes).digest('hex')
  const artifacts = artifactsOf(screenshot.spec.options).map(({ type }) => ({ type, fileSizeBytes: bytes.length, etag }))
  for (const { extension, contentType } of artifactsOf(screenshot.spec.options)) {
    const key = objectKey(accountOf(screenshot), id, extension)
    await world.bucket.putObject('tintype', key, bytes, bytes.length, { 'content-type': contentType })
  }
  const result = {
    format,
    fileSizeBytes: bytes.length,
    etag,
    width: 4,
    height: 3,
    processingMilliseconds: 120,
    pageTitle: 'A page',
    httpStatus: 200,
    ...(artifacts.length > 0 ? { artifacts } : {}),
    ...more,
  }
  await report(screenshot.metadata.name, { phase: 'Completed', result }, world)
}

/** Reports the capture as failed. */
export async function fail(id: string, error: CaptureError, world: World): Promise<void> {
  await report(toObjectName(id), { phase: 'Failed', result: { error } }, world)
}
