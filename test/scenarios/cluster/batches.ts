import { setTimeout as sleep } from 'node:timers/promises'
import type { ScreenshotRecord } from '@tintype/crds/records/record'
import { CLUSTER_CORPUS } from '../engine/stage/corpus.ts'
import { readLoad } from '../harness/machine.ts'
import { fingerprint } from '../harness/pictures.ts'
import { scenario } from '../harness/scenario.ts'
import { roundsTable } from '../harness/table.ts'
import { bodyOf } from '../plane/stage/requests.ts'
import { clusterStage } from './stage/cluster-objects.ts'
import { Api, createAccounts, openBarePod, setPoolSize, waitUntilIdle } from './stage/running-system.ts'

/** Screenshots per second of one round. */
interface Sample {
  round: number
  /** The bare loop with 1, 2 and 4 browsers. */
  bare: readonly number[]
  /** Two batches of one hundred pages by one account, from the first POST to the last `completed`. */
  single: number
  /** The same two hundred pages by many accounts, in rotation. */
  accounts: number
  load: number
}

/** There are more runners than processors, so that some can work while others wait for the store. */
const RUNNERS = 4
const ACCOUNTS = 20
/** Pages per request if there are many accounts. */
const PAGES_OF_ONE = 10
const BROWSERS = [1, 2, 4]
const LOOK_MILLISECONDS = 2_000

/** Alternates between the loop and the product. */
export const batches = scenario({
  name: 'batches',
  shows: 'two batches of a hundred pages by REST, by one account and by twenty, beside the loop',
  stage: clusterStage,
  options: { rounds: 5 },
  run: async ({ settings: { rounds }, ends, ...report }) => {
    const bare = await openBarePod(ends)
    const many = (await createAccounts(ends, ACCOUNTS)).map((key) => new Api({ key }))
    await setPoolSize(ends, { minIdle: RUNNERS, maxPods: RUNNERS })
    const one = new Api({ connections: 4 })
    const samples: Sample[] = []
    const differing = { odd: 0, pictures: 0 }
    // Round 0 is a warm-up and is not counted.
    for (let round = 0; round <= rounds; round++) {
      const rates: number[] = []
      const theirs = new Map<string, string>()
      for (const browsers of BROWSERS) {
        const pages = round === 0 ? CLUSTER_CORPUS.slice(0, 2 * browsers) : CLUSTER_CORPUS
        const isFirst = round === 1 && browsers === 1
        const answer = await bare.run({ pages, count: 1, browsers, way: 'raw', pictures: isFirst })
        rates.push(pages.length / (answer.totalMilliseconds / 1_000))
        for (const [page, text] of Object.entries(answer.pictures)) theirs.set(page, await fingerprint(Buffer.from(text, 'base64')))
      }
      const pages = round === 0 ? CLUSTER_CORPUS.slice(0, 8) : CLUSTER_CORPUS
      await waitUntilIdle()
      const single = await captureBatches([one, one].map((api) => ({ api, pages })))
      const compared = await compare(single, theirs)
      differing.odd += compared.odd
      differing.pictures += compared.pictures
      await single.remove()
      await waitUntilIdle()
      const accounts = await captureBatches(many.map((api, index) => ({ api, pages: round === 0 ? pages.slice(0, 1) : partOf(index) })))
      await accounts.remove()
      if (round > 0) samples.push({ round, bare: rates, single: single.rate, accounts: accounts.rate, load: readLoad() })
      report.progress(`batches: round ${round}`)
    }
    const targets = 'targets: 0.75 of the loop’s best, many accounts 0.8 of one'
    const pictures = `differing pictures: ${differing.odd} of ${differing.pictures}`
    report.table(
      roundsTable(`200 pages of the corpus by REST, ${RUNNERS} runners (screenshots per second; ${targets}; ${pictures})`, samples, {
        ...Object.fromEntries(
          BROWSERS.map((count, index) => [`loop, ${count}`, [({ bare }: Sample) => bare[index] ?? Number.NaN, 2]] as const),
        ),
        'two batches of 100': [({ single }) => single, 2],
        'to the best': [({ single, bare }) => single / Math.max(...bare), 2],
        '20 accounts': [({ accounts }) => accounts, 2],
        'to one account': [({ accounts, single }) => accounts / single, 2],
        load: [({ load }) => load, 1],
      }),
    )
  },
})

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
      for (const { api, record } of records) await api.remove([record.id])
    },
  }
}

async function post(api: Api, urls: readonly string[]): Promise<string> {
  return bodyOf<{ batch_id: string }>(await api.request('/api/v1/screenshots/batch', { method: 'POST', body: { urls } }), 202).batch_id
}

interface Batch {
  data: { total: number; completed: number; screenshots: ScreenshotRecord[] }
}

/** Waits until a batch has finished. @throws when one of its screenshots failed */
async function completed(api: Api, batch: string): Promise<ScreenshotRecord[]> {
  for (;;) {
    const { data } = bodyOf<Batch>(await api.request(`/api/v1/batches/${batch}`), 200)
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
