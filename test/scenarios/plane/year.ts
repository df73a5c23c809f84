import { createdAtOf, derivedId } from '../../../crds/src/identifiers/ids.ts'
import { toId, toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { toArchivedLine } from '../../../crds/src/records/archive.ts'
import { recordKey } from '../../../crds/src/records/storage-keys.ts'
import { mapConcurrently } from '../../../crds/src/runtime/lists.ts'
import type { Whole } from '../../../crds/src/schema/custom-resource.ts'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import { aScreenshot, buildSegments, completedStatus } from '../../support/fakes/builders.ts'
import { countProcessor } from '../harness/processes.ts'
import { scenario } from '../harness/scenario.ts'
import { summarize } from '../harness/statistics.ts'
import type { Table } from '../harness/table.ts'
import { aResult } from './stage/finished.ts'
import { type Plane, plane } from './stage/plane.ts'
import { prepareAccountsAndRunners, processesOf, readEtcd } from './stage/programs.ts'
import { send } from './stage/requests.ts'

const DAYS = 365
const DAY_MILLISECONDS = 86_400_000
const REQUESTS = 400
const PAGE = 100
const BAR_MILLISECONDS = 150
/** Leases and counts also have a history of some minutes in etcd. */
const BAR_ETCD_MEBIBYTES = 4
/** Records per day and account that also exist as single objects. */
const SINGLES = 5
const AT_ONCE = 4

/** One position in the archive for requests. */
interface Place {
  account: number
  day: number
  id: string
}

export const year = scenario({
  name: 'year',
  shows: 'a year’s records in the archive: list pages and single records through a gateway, and etcd’s size',
  stage: plane(),
  options: { records: 1_000_000 },
  run: async ({ stage, settings: { records }, ...report }) => {
    const operator = await stage.startOperator()
    const { gateway, keys, accounts } = await prepareAccountsAndRunners(stage, { runners: 1 })
    const etcdMebibytes = () => readEtcd(stage, 'etcd_mvcc_db_total_size_in_use_in_bytes')
    const etcdBefore = await etcdMebibytes()
    const now = Date.now()
    // One account has one record per day. The others have the rest.
    const busy = accounts.length - 1
    const perDay = Math.ceil(records / DAYS / busy)
    const idOf = (day: number, place: number) => {
      const later = Math.floor((place / perDay) * DAY_MILLISECONDS * 0.9)
      return derivedId('scr', new Date(now - (day + 1) * DAY_MILLISECONDS + later), `${day}/${place}`)
    }
    const countOf = (account: string) => (accounts.indexOf(account) === busy ? 1 : perDay)
    await fill(stage, { accounts, countOf, idOf, progress: report.progress })
    const etcdAfter = await etcdMebibytes()

    report.progress('reading')
    const chance = (below: number) => Math.floor(Math.random() * below)
    const daysOfPage = Math.ceil(PAGE / perDay)
    const anywhere = (among = perDay): Place => {
      // The position has a whole page of older records after it, and a whole page of newer records from the previous day on.
      const newest = Math.max(0, daysOfPage - 2)
      const day = newest + chance(DAYS - 2 - daysOfPage - newest)
      return { account: chance(busy), day, id: idOf(day, chance(among)) }
    }
    const seldom = (): Place => {
      const day = chance(DAYS - PAGE - 1)
      return { account: busy, day, id: idOf(day, 0) }
    }
    const faults: string[] = []
    const rows: string[][] = []
    const processes = processesOf(stage, [operator], [gateway])
    const get = (path: string, account: number) => send(`${gateway.url}/v1/screenshots${path}`, { key: keys[account] ?? '' })
    const time = async (what: string, choose: () => Place, act: (place: Place) => Promise<string | undefined>) => {
      const milliseconds: number[] = []
      const { used } = await countProcessor(processes, async () => {
        for (let n = 0; n < REQUESTS; n++) {
          const place = choose()
          const started = performance.now()
          const fault = await act(place)
          milliseconds.push(performance.now() - started)
          if (fault) faults.push(fault)
        }
      })
      const { p50, p95 } = summarize(milliseconds)
      const costs = ['gateway', 'MinIO'].map((name) => (used[name] ?? Number.NaN) / REQUESTS)
      rows.push([what, ...[p50, p95, ...costs].map((value) => value.toFixed(1))])
      report.atMost(`${what} (p95)`, p95, BAR_MILLISECONDS, 'ms')
    }
    const page = (toQuery: (place: Place) => string) => async (place: Place) => {
      const { status, text } = await get(`?limit=${PAGE}${toQuery(place)}`, place.account)
      const count = status === 200 ? (JSON.parse(text) as { data: unknown[] }).data.length : 0
      return count === PAGE ? undefined : `${toQuery(place)}: ${status}, ${count} records`
    }
    const single = async ({ account, id }: Place) => {
      const { status, text } = await get(`/${id}`, account)
      return status === 200 && text.includes(id) ? undefined : `GET ${id}: ${status}`
    }
    const all = (perDay * busy + 1) * DAYS
    const before = page(({ id }) => `&cursor=${id}`)
    await time(`pages of ${PAGE} of ${all} archived records, anywhere in the year`, anywhere, before)
    await time('pages of an account with one record a day', seldom, before)
    const first = page(() => '')
    await time('first pages', anywhere, first)
    await time('single records, anywhere in the year', () => anywhere(Math.min(SINGLES, perDay)), single)
    const ofDay = page(({ day }) => `&order=asc&created_after=${createdAtOf(idOf(day + 1, 0)).toISOString()}`)
    await time('pages of a day, oldest first', anywhere, ofDay)
    const answers = faults.length === 0 ? `${rows.length * REQUESTS} answers` : faults.slice(0, 3).join('; ')
    report.holds('every response was right', faults.length === 0, answers)
    const growth = `growth of etcd by it (${etcdBefore.toFixed(1)} → ${etcdAfter.toFixed(1)} MiB in use)`
    report.atMost(growth, etcdAfter - etcdBefore, BAR_ETCD_MEBIBYTES, 'MiB', 1)
    const head: Table['head'] = ['request', 'p50 ms', 'p95 ms', 'gateway, processor ms', 'MinIO, processor ms']
    report.table({ title: `${all} archived records`, head, rows })
  },
})

interface Filling {
  accounts: readonly string[]
  /** Records a day. */
  countOf: (account: string) => number
  idOf: (day: number, place: number) => string
  progress: (line: string) => void
}

/** Writes the same objects as the operator's archiver, but only some of the objects for single records, which are all alike. */
async function fill({ minio }: Plane, { accounts, countOf, idOf, progress }: Filling): Promise<void> {
  const { endpoint, accessKey, secretKey } = minio
  const storage = openStorage({ endpoint, region: 'us-east-1', bucket: 'tintype', accessKey, secretKey })
  const write = async (account: string, day: number) => {
    const records = Array.from({ length: countOf(account) }, (_, place) => aRecord(account, idOf(day, place)))
    for (const { key, text } of buildSegments(account, records)) await storage.write(key, text)
    for (const record of records.slice(0, SINGLES))
      await storage.write(recordKey(account, toId(record.metadata.name)), toArchivedLine(record))
  }
  let done = 0
  await mapConcurrently([...Array(DAYS).keys()], AT_ONCE, async (day) => {
    for (const account of accounts) await write(account, day)
    if (++done % 50 === 0) progress(`${done} days`)
  })
}

/** As large as typical records. */
function aRecord(accountName: string, id: string): Whole<Screenshot> {
  const result = aResult(`https://example.com/a/page?of=some&length=${id}`)
  const spec = { url: result.finalUrl, accountName, options: { fullPage: true, viewportWidth: 1280, delay: 500 } }
  return aScreenshot({ name: toObjectName(id), spec, status: completedStatus({ result }) })
}
