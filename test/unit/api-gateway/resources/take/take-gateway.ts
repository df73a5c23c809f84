import { validLinkSecretsOf } from '../../../../../api-gateway/src/resources/keys/key-object.ts'
import { signedPairs } from '../../../../../api-gateway/src/resources/take/link-query.ts'
import { signatureOf } from '../../../../../api-gateway/src/resources/take/link-signature.ts'
import { screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import type { CaptureResult, Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { accountOf } from '../../../../../crds/src/records/record.ts'
import { cacheEntryKey, objectKey } from '../../../../../crds/src/records/storage-keys.ts'
import { eventually } from '../../../../support/eventually.ts'
import { aGateway, LINK_KEY, NOW } from '../../fakes.ts'

// A gateway with a clock, and signed links to it. `complete` and `fail` do the operator's part.

export const PAGE = 'url=https%3A%2F%2Fexample.com%2F'
export const PICTURE = Buffer.from('a picture')

export function aTakeGateway(changes: Parameters<typeof aGateway>[0] = {}) {
  let at = NOW
  const now = () => at
  const gateway = aGateway({ now, ...changes })
  const [secret = ''] = validLinkSecretsOf(gateway.apiKeys.objects[0]!, LINK_KEY, NOW)

  /** Signs a query with the gateway's key. */
  const sign = (query: string): string => {
    const whole = `key=${gateway.keyId}&${query}`
    return `${whole}&signature=${signatureOf(signedPairs(whole), secret)}`
  }
  const get = (query: string, { headers = {}, method = 'GET' }: { headers?: Record<string, string>; method?: 'GET' | 'HEAD' } = {}) =>
    gateway.app.inject({ method, url: `/v1/take?${query}`, headers })
  const end = (screenshot: Screenshot, phase: 'Completed' | 'Failed', result: CaptureResult): void => {
    gateway.screenshots.put({ ...screenshot, status: { phase, completionTime: at.toISOString(), result } })
  }
  const complete = (screenshot: Screenshot, finalUrl = 'https://example.com/'): void => {
    const [id, account] = [screenshotIdOf(screenshot.metadata), accountOf(screenshot)]
    const result = { etag: 'abc', fileSizeBytes: PICTURE.length, finalUrl }
    gateway.files.objects.set(objectKey(account, id, screenshot.spec.options?.format ?? 'png'), PICTURE)
    const entry = { version: 1, id, completedAt: at.toISOString(), result }
    const { cacheAs } = screenshot.spec
    if (cacheAs !== undefined) gateway.objects.objects.set(cacheEntryKey(account, cacheAs), JSON.stringify(entry))
    end(screenshot, 'Completed', result)
  }
  const fail = (screenshot: Screenshot): void => end(screenshot, 'Failed', { error: { code: 'TIMEOUT', message: 'too slow' } })

  /** Waits until the gateway has created this many screenshots, and returns the last one. */
  const created = (count = 1): Promise<Screenshot> =>
    eventually(`${count} screenshots`, async () => [...gateway.screenshots.objects.values()][count - 1])
  const later = (seconds: number): void => {
    at = new Date(at.getTime() + seconds * 1_000)
  }
  /** Requests a link, and completes its capture. */
  const capture = async (query: string, finalUrl?: string) => {
    const count = gateway.screenshots.objects.size
    const pending = get(query)
    complete(await created(count + 1), finalUrl)
    return pending
  }
  return { ...gateway, sign, get, complete, fail, created, later, capture, now }
}

/** Everything that the gateway has stored. */
export const storedIn = ({ objects, screenshots, quota }: ReturnType<typeof aTakeGateway>) =>
  structuredClone([[...objects.objects], [...screenshots.objects], quota.usage])
