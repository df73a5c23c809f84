import { screenshots } from '../../../../crds/client/kinds.ts'
import type { NewObject } from '../../../../crds/client/resource.ts'
import { Resource } from '../../../../crds/client/resource.ts'
import { derivedId } from '../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { CaptureResult, Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { mapConcurrently } from '../../../../crds/src/runtime/lists.ts'
import { completedStatus } from '../../../support/fakes/builders.ts'
import type { Plane } from './plane.ts'

const AT_ONCE = 32

/** A result of realistic size. */
export const aResult = (finalUrl: string) => ({
  format: 'png' as const,
  fileSizeBytes: 123_456,
  width: 1920,
  height: 1080,
  processingMilliseconds: 812,
  httpStatus: 200,
  pageTitle: 'The title of a page, about as long as titles are',
  finalUrl,
  timings: { browser: 1, navigate: 412, settle: 102, measure: 3, screenshot: 120, metadata: 4, upload: 35 },
})

interface Extras {
  options?: CaptureOptions
  /** Fields of the result of one of them. */
  resultOf?: (index: number) => Partial<CaptureResult>
}

/** Creates finished Screenshots of realistic size directly in the API server. Returns their ids, the oldest first. */
export async function createFinished(
  { admin, release }: Plane,
  accountName: string,
  count: number,
  { options, resultOf = () => ({}) }: Extras = {},
): Promise<string[]> {
  // Only a gateway may create names that contain an id.
  const asGateway = new Resource(await release.asAccount('tintype-api-gateway'), screenshots)
  const asAdmin = new Resource(admin, screenshots)
  const started = Date.now()
  const ids = Array.from({ length: count }, (_, index) => derivedId('scr', new Date(started + index), `finished/${index}`))
  await mapConcurrently(ids, AT_ONCE, async (id, index) => {
    const result = { ...aResult(`https://example.com/a/page?of=some&length=${id}`), ...resultOf(index) }
    const spec = {
      url: result.finalUrl,
      accountName,
      options: { fullPage: true, format: 'png' as const, viewportWidth: 1280, delay: 500, ...options },
      externalIdentifier: `order-${id.slice(-8)}`,
    }
    const made = await asGateway.create({ metadata: { name: toObjectName(id) }, spec } as NewObject<Screenshot>)
    await asAdmin.replaceStatus({ ...made, status: completedStatus({ completionTime: new Date(started).toISOString(), result }) })
  })
  return ids
}
