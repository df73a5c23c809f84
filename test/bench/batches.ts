import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ScreenshotRecord } from '@tintype/crds/records/record'
import { Api } from './api.ts'
import type { BarePod } from './bare-pod.ts'
import { CLUSTER_CORPUS } from './engine/corpus.ts'
import { fingerprint } from './pictures.ts'
import { waitUntilIdle } from './pool.ts'
import { VIEWPORT } from './sequential.ts'

/** Screenshots per second of one round. */
export interface BatchSample {
  round: number
  /** The bare loop with 1, 2 and 4 browsers. */
  bare: readonly number[]
  /** Two batches of one hundred pages by one account, from the first POST to the last `completed`. */
  single: number
  /** The same two hundred pages by many accounts, in rotation. */
  accounts: number
  /** Number of pictures that differ from the loop's, and number of all pictures. */
  odd: number
  pictures: number
  load: number
}

/** Pages per request if there are many accounts. */
const PAGES_OF_ONE = 10
const BROWSERS = [1, 2, 4]
const LOOK_MILLISECONDS = 2_000

/** Alternates between the loop and the product. @param keys keys of otherwise unused accounts */
export async function measureBatches(
  rounds: number,
  bare: BarePod,
  keys: readonly string[],
  progress: (line: string) => void,
): Promise<BatchSample[]> {
  const one = new Api({ connections: 4 })
  const many = keys.map((key) => new Api({ key }))
  const samples: BatchSample[] = []
  // Round 0 is a warm-up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    const rates: number[] = []
    const theirs = new Map<string, string>()
    for (const browsers of BROWSERS) {
      const pages = round === 0 ? CLUSTER_CORPUS.slice(0, 2 * browsers) : CLUSTER_CORPUS
      const isFirst = round === 1 && browsers === 1
      const answer = await bare.run({ pages, count: 1, browsers, way: 'raw', viewport: VIEWPORT, pictures: isFirst })
      rates.push(pages.length / (answer.totalMilliseconds / 1_000))
      for (const [page, text] of Object.entries(answer.pictures)) theirs.set(page, await fingerprint(Buffer.from(text, 'base64')))
    }
    const pages = round === 0 ? CLUSTER_CORPUS.slice(0, 8) : CLUSTER_CORPUS
    await waitUntilIdle()
    const single = await captureBatches([one, one].map((api) => ({ api, pages })))
    const compared = await compare(single, theirs)
    await single.remove()
    await waitUntilIdle()
    const parts = many.map((api, index) => ({ api, pages: round === 0 ? pages.slice(0, 1) : partOf(index) }))
    const accounts = await captureBatches(parts)
    await accounts.remove()
    if (round > 0) samples.push({ round, bare: rates, single: single.rate, accounts: accounts.rate, ...compared, load: loadavg()[0] ?? 0 })
    progress(`batches: round ${round}`)
  }
  for (const api of [one, ...many]) api.close()
  return samples
}

/** The corpus in groups of ten pages per account, repeated from the start when necessary. */
function partOf(index: number): string[] {
  const from = (index * PAGES_OF_ONE) % CLUSTER_CORPUS.length
  return CLUSTER_CORPUS.slice(from, from + PAGES_OF_ONE)
}

interface Captured {
  rate: number
  records: readonly { api: Api; record: ScreenshotRecord }[]
  remove: () => Promise<void>
}

/** Posts the batches one after the other. Measures until the last record is `completed`. */
async function captureBatches(batches: readonly { api: Api; pages: readonly string[] }[]): Promise<Captured> {
  const started = Date.now()
  const posted: { api: Api; id: string }[] = []
  for (const { api, pages } of batches) posted.push({ api, id: await post(api, pages) })
  const records: Captured['records'][number][] = []
  for (const { api, id } of posted) for (const record of await completed(api, id)) records.push({ api, record })
  const last = Math.max(...records.map(({ record }) => Date.parse(record.completed_at ?? '')))
  return {
    rate: records.length / ((last - started) / 1_000),
    records,
    remove: async () => {
      for (const { api, record } of records) await api.remove(record.id)
    },
  }
}

async function post(api: Api, urls: readonly string[]): Promise<string> {
  const { status, body } = await api.request('POST', '/api/v1/screenshots/batch', { body: { urls } })
  if (status !== 202) throw new Error(`the batch returned ${status}: ${body}`)
  return (JSON.parse(body.toString()) as { batch_id: string }).batch_id
}

/** Waits until a batch has finished. @throws when one of its screenshots failed */
async function completed(api: Api, batch: string): Promise<ScreenshotRecord[]> {
  for (;;) {
    const { status, body } = await api.request('GET', `/api/v1/batches/${batch}`)
    if (status !== 200) throw new Error(`the batch returned ${status}: ${body}`)
    const { data } = JSON.parse(body.toString()) as { data: { total: number; completed: number; screenshots: ScreenshotRecord[] } }
    const failed = data.screenshots.find((record) => record.status === 'failed')
    if (failed) throw new Error(`${failed.url}: ${failed.error?.code} ${failed.error?.message}`)
    if (data.completed === data.total) return data.screenshots
    await sleep(LOOK_MILLISECONDS)
  }
}

/** Compares only the first round, because downloads are not measured, and pictures of one browser do not change. */
async function compare({ records }: Captured, theirs: ReadonlyMap<string, string>): Promise<{ odd: number; pictures: number }> {
  let odd = 0
  const compared = records.filter(({ record }) => theirs.has(record.url))
  for (const { api, record } of compared) if ((await fingerprint(await api.download(record))) !== theirs.get(record.url)) odd++
  return { odd, pictures: compared.length }
}
