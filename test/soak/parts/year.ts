import { buildSegments, toArchivedLine } from '../../../crds/src/archive.ts'
import { derivedId } from '../../../crds/src/ids.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { toId, toObjectName } from '../../../crds/src/names.ts'
import { recordKey } from '../../../crds/src/storage-keys.ts'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import { aResult } from '../../bench/rest/finished.ts'
import { summarize } from '../../bench/statistics.ts'
import { aScreenshot, completedStatus } from '../../support/builders.ts'
import { atMost, holds, type Part, type PartContext, type PartResult } from '../part.ts'
import { send } from '../stage/clients.ts'
import { openOffice } from '../stage/office.ts'
import { type Stage, textOf, withStage } from '../stage/stage.ts'

const DAYS = 365
const DAY_MILLISECONDS = 86_400_000
const REQUESTS = 400
const PAGE = 100
const BAR_MILLISECONDS = 150
/** Leases and counts have a history too, of a few minutes. */
const BAR_ETCD_MEBIBYTES = 4
/** Records of a day and account that are also there one by one. */
const SINGLES = 5
const AT_ONCE = 4

/** A year's records in the archive. */
export const year: Part = {
  name: 'year',
  shows: 'a year’s records in the archive: list pages and single records through a gateway, and etcd’s size',
  run: (context) => withStage((stage) => run(stage, context)),
}

async function run(stage: Stage, { settings: { records }, tell }: PartContext): Promise<PartResult> {
  await stage.startOperator()
  const { gateway, keys, accounts } = await openOffice(stage, { runners: 1 })
  const etcdBefore = await etcdMebibytes(stage)
  const now = Date.now()
  const perDay = Math.ceil(records / DAYS / accounts.length)
  const idOf = (day: number, place: number) =>
    derivedId(
      'scr',
      new Date(now - (day + 1) * DAY_MILLISECONDS + Math.floor((place / perDay) * DAY_MILLISECONDS * 0.9)),
      `${day}/${place}`,
    )
  await fill(stage, { accounts, perDay, idOf, tell })
  const etcdAfter = await etcdMebibytes(stage)

  tell('reading')
  const chance = (below: number) => Math.floor(Math.random() * below)
  const faults: string[] = []
  const time = async (act: (place: { account: number; id: string }) => Promise<string | undefined>, among = perDay) => {
    const milliseconds: number[] = []
    for (let n = 0; n < REQUESTS; n++) {
      const place = { account: chance(accounts.length), id: idOf(chance(DAYS - 1), chance(among)) }
      const started = performance.now()
      const fault = await act(place)
      milliseconds.push(performance.now() - started)
      if (fault) faults.push(fault)
    }
    return summarize(milliseconds)
  }
  const get = (path: string, account: number) => send(`${gateway.url}/v1/screenshots${path}`, { key: keys[account] ?? '' })
  const single = await time(
    async ({ account, id }) => {
      const { status, text } = await get(`/${id}`, account)
      return status === 200 && text.includes(id) ? undefined : `GET ${id}: ${status}`
    },
    Math.min(SINGLES, perDay),
  )
  const pageOf = async (path: string, account: number, expected: number) => {
    const { status, text } = await get(path, account)
    const count = status === 200 ? (JSON.parse(text) as { data: unknown[] }).data.length : 0
    return count === expected ? undefined : `${path}: ${status}, ${count} records`
  }
  const pages = await time(({ account, id }) => pageOf(`?limit=${PAGE}&cursor=${id}`, account, PAGE))
  const first = await time(({ account }) => pageOf(`?limit=${PAGE}`, account, PAGE))
  const toText = ({ p50, p95 }: { p50: number; p95: number }) => `p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms`
  const all = perDay * DAYS * accounts.length
  const findings = [
    atMost(`pages of ${PAGE} of ${all} archived records, anywhere in the year (p95; ${toText(pages)})`, pages.p95, BAR_MILLISECONDS, 'ms'),
    atMost(`single records, anywhere in the year (p95; ${toText(single)})`, single.p95, BAR_MILLISECONDS, 'ms'),
    atMost(`first pages (p95; ${toText(first)})`, first.p95, BAR_MILLISECONDS, 'ms'),
    holds('every answer was right', faults.length === 0, faults.length === 0 ? `${3 * REQUESTS} answers` : faults.slice(0, 3).join('; ')),
    atMost(
      `growth of etcd by it (${etcdBefore.toFixed(1)} → ${etcdAfter.toFixed(1)} MiB in use)`,
      etcdAfter - etcdBefore,
      BAR_ETCD_MEBIBYTES,
      'MiB',
      1,
    ),
  ]
  return { findings }
}

interface Filling {
  accounts: readonly string[]
  perDay: number
  idOf: (day: number, place: number) => string
  tell: (line: string) => void
}

/** What the operator's archiver writes; of the objects for single records, which differ in nothing, only some of each day. */
async function fill({ minio }: Stage, { accounts, perDay, idOf, tell }: Filling): Promise<void> {
  const { endpoint, accessKey, secretKey } = minio
  const storage = openStorage({ endpoint, region: 'us-east-1', bucket: 'tintype', accessKey, secretKey })
  const write = async (account: string, day: number) => {
    const records = Array.from({ length: perDay }, (_, place) => aRecord(account, idOf(day, place)))
    for (const { key, text } of buildSegments(account, records)) await storage.write(key, text)
    for (const record of records.slice(0, SINGLES))
      await storage.write(recordKey(account, toId(record.metadata.name)), toArchivedLine(record))
  }
  let done = 0
  const days = Array.from({ length: DAYS }, (_, day) => day).values()
  const work = async () => {
    for (const day of days) {
      for (const account of accounts) await write(account, day)
      if (++done % 50 === 0) tell(`${done} days, ${done * perDay * accounts.length} records`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/** As large as real ones. */
function aRecord(accountName: string, id: string): Screenshot {
  const result = aResult(`https://example.com/a/page?of=some&length=${id}`)
  const spec = { url: result.finalUrl, accountName, options: { fullPage: true, viewportWidth: 1280, delay: 500 } }
  return aScreenshot({ name: toObjectName(id), spec, status: completedStatus({ result }) })
}

async function etcdMebibytes({ release }: Stage): Promise<number> {
  const text = await textOf(`${release.plane.etcdUrl}/metrics`)
  return Number(/^etcd_mvcc_db_total_size_in_use_in_bytes (\S+)$/m.exec(text)?.[1]) / 2 ** 20
}
