import { setTimeout as sleep } from 'node:timers/promises'
import { toObjectName } from '@tintype/crds/identifiers/names'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { kubectlJson } from '../support/cluster/environment.ts'
import type { Api } from './api.ts'

/** One capture through the product. */
export interface ProductCapture {
  id: string
  api: Api
  /** From the 202 to `completed`. */
  milliseconds: number
  /** From the request's first byte to `completed`. */
  withRequest: number
  picture: Buffer
}

/** Captures a page after a pause, so that the runner is idle. */
export async function captureOnce(url: string, api: Api, pauseMilliseconds: number): Promise<ProductCapture> {
  await sleep(pauseMilliseconds)
  const started = performance.now()
  const { id, at: accepted } = await api.create(url)
  const { record, at } = await api.completed(id)
  return { id, api, milliseconds: at - accepted, withRequest: at - started, picture: await api.download(record) }
}

/** Captures with one request each, whose response is the file. */
export async function captureInOneRequest(
  url: string,
  api: Api,
  { count, pauseMilliseconds }: { count: number; pauseMilliseconds: number },
) {
  const milliseconds: number[] = []
  for (let n = 0; n < count; n++) {
    await sleep(pauseMilliseconds)
    const started = performance.now()
    const { at } = await api.picture(url)
    milliseconds.push(at - started)
  }
  return milliseconds
}

/** Creates all captures at once. Returns milliseconds from the first request to the last completion, and one picture of each page. */
export async function captureAtOnce(urls: readonly string[], api: Api) {
  const started = performance.now()
  const ended = await Promise.all(
    urls.map(async (url) => {
      const { id } = await api.create(url)
      const { record } = await api.completed(id)
      return { url, id, record }
    }),
  )
  const milliseconds = performance.now() - started
  const pictures: Record<string, Buffer> = {}
  for (const { url, record } of ended) pictures[url] ??= await api.download(record)
  return { milliseconds, pictures, ids: ended.map(({ id }) => id) }
}

/** The objects of finished captures, for the time of each stage. */
export async function readObjects(ids: readonly string[]): Promise<Screenshot[]> {
  const { items } = await kubectlJson<{ items: Screenshot[] }>(['get', 'screenshots'])
  const names = new Set(ids.map(toObjectName))
  return items.filter(({ metadata }) => names.has(metadata.name))
}

/** Deletes the captures, so that the next round starts in the same state. */
export async function removeAll(ids: readonly string[], api: Api): Promise<void> {
  for (const id of ids) await api.remove(id)
}
