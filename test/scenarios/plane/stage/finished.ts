import { screenshots as screenshotResource } from '../../../../crds/client/kinds.ts'
import type { KubeHttp } from '../../../../crds/client/kube-http.ts'
import type { NewObject } from '../../../../crds/client/resource.ts'
import { Resource } from '../../../../crds/client/resource.ts'
import { derivedId } from '../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { CaptureResult, Screenshot, ScreenshotStatus } from '../../../../crds/src/kinds/screenshot.ts'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'

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

/** The status of a finished capture, as operator and runner write it. */
function completedStatus(at: Date, more: Partial<CaptureResult>): ScreenshotStatus {
  const time = at.toISOString()
  const condition = (type: string) => ({ type, status: 'True' as const, reason: 'Captured', message: 'captured', lastTransitionTime: time })
  return {
    phase: 'Completed',
    runner: { pod: 'default-7c9f4', uid: '6f0c3c1e-52c5-4b5a-9a55-0d7a1d6c9b3f' },
    attempt: 1,
    startTime: time,
    completionTime: time,
    result: { ...aResult('https://example.com/a/page?of=some&length=1'), ...more },
    conditions: [condition('Succeeded'), condition('Finished')],
  }
}

interface Extras {
  options?: CaptureOptions
  /** Fields of the result of one of them. */
  resultOf?: (index: number) => Partial<CaptureResult>
}

/** Creates finished Screenshots of realistic size directly in the API server. Returns their ids, the oldest first. */
export async function createFinished(
  admin: KubeHttp,
  account: string,
  count: number,
  { options, resultOf = () => ({}) }: Extras = {},
): Promise<string[]> {
  const screenshots = new Resource(admin, screenshotResource)
  const started = Date.now()
  const ids = Array.from({ length: count }, (_, index) => derivedId('scr', new Date(started + index), `finished/${index}`))
  const todo = ids.entries()
  const work = async (): Promise<void> => {
    for (const [index, id] of todo) {
      const name = toObjectName(id)
      const spec = {
        url: `https://example.com/a/page?of=some&length=${id}`,
        accountName: account,
        options: { fullPage: true, format: 'png' as const, viewportWidth: 1280, delay: 500, ...options },
        externalIdentifier: `order-${id.slice(-8)}`,
      }
      const made = await screenshots.create({ metadata: { name }, spec } as NewObject<Screenshot>)
      await screenshots.replaceStatus({ ...made, status: completedStatus(new Date(started), resultOf(index)) })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return ids
}
