import { createdAtOf, derivedId } from '../../../crds/src/identifiers/ids.ts'
import { toId, toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { toArchivedLine } from '../../../crds/src/records/archive.ts'
import { recordKey } from '../../../crds/src/records/storage-keys.ts'
import type { Whole } from '../../../crds/src/schema/custom-resource.ts'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import { summarize } from '../../bench/report/statistics.ts'
import { aResult } from '../../bench/rest/finished.ts'
import { aScreenshot, buildSegments, completedStatus } from '../../support/fakes/builders.ts'
import { atMost, holds, type Part, type PartContext, type PartResult } from '../part.ts'
import { prepareAccountsAndRunners } from '../stage/accounts-and-runners.ts'
import { send } from '../stage/clients.ts'
import { processesOf, readProcessor } from '../stage/processes.ts'
import { type Stage, textOf, withStage } from '../stage/stage.ts'

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

/** An archive with the records of a year. */
export const year: Part = {
  name: 'year',
  shows: 'a year’s records in the archive: list pages and single records through a gateway, and etcd’s size',
  run: (context) => withStage((stage) => run(stage, context)),
}

/** One position in the archive for requests. */
interface Place {
  account: number
  day: number
  id: string
}

async function run(stage: Stage, { settings: { records }, progress }: PartContext): Promise<PartResult> {
  const operator = await stage.startOperator()
  const { gateway, keys, accounts } = await prepareAccountsAndRunners(stage, { runners: 1 })
  const etcdBefore = await etcdMebibytes(stage)
  const now = Date.now()
  // One account has one record per day. The others have the rest.
  const busy = accounts.length - 1
  const perDay = Math.ceil(records / DAYS / busy)
  const idOf = (day: number, place: number) =>
    derivedId(
      'scr',
      new Date(now - (day + 1) * DAY_MILLISECONDS + Math.floor((place / perDay) * DAY_MILLISECONDS * 0.9)),
      `${day}/${place}`,
    )
  await fill(stage, { accounts, countOf: (account) => (accounts.indexOf(account) === busy ? 1 : perDay), idOf, progress })
  const etcdAfter = await etcdMebibytes(stage)

  progress('reading')
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
  const costs: string[][] = []
  const processes = processesOf(stage, [operator], [gateway])
  const time = async (what: string, choose: () => Place, act: (place: Place) => Promise<string | undefined>) => {
    const milliseconds: number[] = []
    const before = readProcessor(processes)
    for (let n = 0; n < REQUESTS; n++) {
      const place = choose()
      const started = performance.now()
      const fault = await act(place)
      milliseconds.push(performance.now() - started)
      if (fault) faults.push(fault)
    }
    const after = readProcessor(processes)
    const costOf = (name: string) => (((after[name] ?? 0) - (before[name] ?? 0)) / REQUESTS).toFixed(1)
    const summary = summarize(milliseconds)
    costs.push([what, summary.p50.toFixed(1), summary.p95.toFixed(1), costOf('gateway'), costOf('MinIO')])
    return atMost(`${what} (p95)`, summary.p95, BAR_MILLISECONDS, 'ms')
  }
  const get = (path: string, account: number) => send(`${gateway.url}/v1/screenshots${path}`, { key: keys[account] ?? '' })
  const pageOf = async (path: string, account: number) => {
    const { status, text } = await get(path, account)
    const count = status === 200 ? (JSON.parse(text) as { data: unknown[] }).data.length : 0
    return count === PAGE ? undefined : `${path}: ${status}, ${count} records`
  }
  const all = (perDay * busy + 1) * DAYS
  const timings = [
    await time(`pages of ${PAGE} of ${all} archived records, anywhere in the year`, anywhere, ({ account, id }) =>
      pageOf(`?limit=${PAGE}&cursor=${id}`, account),
    ),
    await time('pages of an account with one record a day', seldom, ({ account, id }) => pageOf(`?limit=${PAGE}&cursor=${id}`, account)),
    await time('first pages', anywhere, ({ account }) => pageOf(`?limit=${PAGE}`, account)),
    await time(
      'single records, anywhere in the year',
      () => anywhere(Math.min(SINGLES, perDay)),
      async ({ account, id }) => {
        const { status, text } = await get(`/${id}`, account)
        return status === 200 && text.includes(id) ? undefined : `GET ${id}: ${status}`
      },
    ),
    await time('pages of a day, oldest first', anywhere, ({ account, day }) =>
      pageOf(`?limit=${PAGE}&order=asc&created_after=${createdAtOf(idOf(day + 1, 0)).toISOString()}`, account),
    ),
  ]
  const findings = [
    ...timings,
    holds(
      'every response was right',
      faults.length === 0,
      faults.length === 0 ? `${costs.length * REQUESTS} answers` : faults.slice(0, 3).join('; '),
    ),
    atMost(
      `growth of etcd by it (${etcdBefore.toFixed(1)} → ${etcdAfter.toFixed(1)} MiB in use)`,
      etcdAfter - etcdBefore,
      BAR_ETCD_MEBIBYTES,
      'MiB',
      1,
    ),
  ]
  const head = ['request', 'p50 ms', 'p95 ms', 'gateway, processor ms', 'MinIO, processor ms']
  return { findings, tables: [{ title: `${all} archived records`, head, rows: costs }] }
}

interface Filling {
  accounts: readonly string[]
  /** Records a day. */
  countOf: (account: string) => number
  idOf: (day: number, place: number) => string
  progress: (line: string) => void
}

/** Writes the same objects as the operator's archiver, but only some of the objects for single records, which are all alike. */
async function fill({ minio }: Stage, { accounts, countOf, idOf, progress }: Filling): Promise<void> {
  const { endpoint, accessKey, secretKey } = minio
  const storage = openStorage({ endpoint, region: 'us-east-1', bucket: 'tintype', accessKey, secretKey })
  const write = async (account: string, day: number) => {
    const records = Array.from({ length: countOf(account) }, (_, place) => aRecord(account, idOf(day, place)))
    for (const { key, text } of buildSegments(account, records)) await storage.write(key, text)
    for (const record of records.slice(0, SINGLES))
      await storage.write(recordKey(account, toId(record.metadata.name)), toArchivedLine(record))
  }
  let done = 0
  const days = Array.from({ length: DAYS }, (_, day) => day).values()
  const work = async () => {
    for (const day of days) {
      for (const account of accounts) await write(account, day)
      if (++done % 50 === 0) progress(`${done} days`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/** As large as typical records. */
function aRecord(accountName: string, id: string): Whole<Screenshot> {
  const result = aResult(`https://example.com/a/page?of=some&length=${id}`)
  const spec = { url: result.finalUrl, accountName, options: { fullPage: true, viewportWidth: 1280, delay: 500 } }
  return aScreenshot({ name: toObjectName(id), spec, status: completedStatus({ result }) })
}

async function etcdMebibytes({ release }: Stage): Promise<number> {
  const text = await textOf(`${release.plane.etcdUrl}/metrics`)
  return Number(/^etcd_mvcc_db_total_size_in_use_in_bytes (\S+)$/m.exec(text)?.[1]) / 2 ** 20
}
