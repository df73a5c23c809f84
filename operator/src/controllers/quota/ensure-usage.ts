// rbac: tintype.dev/accountusages get,list,watch,create,patch
// rbac: tintype.dev/accountusages/status update

import { isAlreadyExists } from '@tintype/crds/client/kube-error'
import { mergePatch } from '@tintype/crds/client/resource'
import { createdAtOf } from '@tintype/crds/identifiers/ids'
import { API_VERSION } from '@tintype/crds/identifiers/names'
import type { Account, AccountUsage } from '@tintype/crds/kinds/account'
import { readArchived, readLines } from '@tintype/crds/records/archive'
import { ignoreSilently, type ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { invertedDay, recordsPrefix, type SegmentName } from '@tintype/crds/records/storage-keys'
import { mapConcurrently } from '@tintype/crds/runtime/lists'
import { readRecordKeys } from '@tintype/crds/storage/archive'
import type { ObjectStorage } from '@tintype/crds/storage/port'
import { listPages, readStored } from '@tintype/crds/storage/stored-objects'
import { limitsOfPlan, toLimits } from '@tintype/crds/usage/plans'
import { monthOf, unitsOf } from '@tintype/crds/usage/usage'
import { ACCOUNT_INDEX } from '../../kube/reflectors.ts'
import type { TermDeps } from '../../runtime/deps.ts'
import { recount } from './decide.ts'

/** Ensures the usage object of an account, with the limits of its plan. Kubernetes deletes it together with the Account. */
export async function ensureUsage(account: Account, cached: AccountUsage | undefined, context: TermDeps): Promise<AccountUsage> {
  const usage = cached ?? (await create(account, context))
  const begun = usage.status?.period === undefined ? await begin(account, usage, context) : usage
  return limit(account, begun, context)
}

async function create(account: Account, { clients: { usages }, config: { plans } }: TermDeps): Promise<AccountUsage> {
  const { name, uid } = account.metadata
  const owner = { apiVersion: API_VERSION, kind: 'Account', name, uid, controller: true, blockOwnerDeletion: false }
  const spec = toLimits(account.spec, limitsOfPlan(plans, account.spec.plan))
  try {
    return await usages.create({ metadata: { name, ownerReferences: [owner] }, spec } as Parameters<typeof usages.create>[0])
  } catch (error) {
    if (isAlreadyExists(error)) return usages.get(name)
    throw error
  }
}

/** Gateways accept nothing before the usage has a period, so nothing that is counted here can be charged twice. */
async function begin(account: Account, usage: AccountUsage, context: TermDeps): Promise<AccountUsage> {
  const { clients, reflectors, events, storage, report, now } = context
  const { name } = account.metadata
  const past = await listPastUnits(name, now(), { objects: storage, report })
  const status = recount(reflectors.screenshots.lister.byIndex(ACCOUNT_INDEX, name), past, usage.spec.limit, now())
  const begun = await clients.usages.replaceStatus({ ...usage, status }, { repeat: 'never' })
  if (status.used > 0) {
    const message = `The usage of this month was lost. It was recomputed from the screenshots and videos of this month: ${status.used} units.`
    events.warn({ ...account, apiVersion: API_VERSION, kind: 'Account' }, 'UsageRecounted', message)
  }
  return begun
}

async function limit({ spec }: Account, usage: AccountUsage, { clients, config }: TermDeps): Promise<AccountUsage> {
  const wanted = toLimits(spec, limitsOfPlan(config.plans, spec.plan))
  if (usage.spec.limit === wanted.limit && usage.spec.ratePerMinute === wanted.ratePerMinute) return usage
  const patch = mergePatch({ spec: { limit: wanted.limit, ratePerMinute: wanted.ratePerMinute ?? null } })
  return clients.usages.patch(usage.metadata.name, patch)
}

const DAY_DIGITS = 5
const CONCURRENT_READS = 8
/** Records of videos, which can cost more than one unit, contain one of these texts. Other records need not be parsed. */
const VIDEO = /"format":"(?:mp4|webm|gif)"/

interface PastDeps {
  objects: Pick<ObjectStorage, 'list' | 'readText'>
  /** Reports objects that are ignored. */
  report: ReportIgnored
}

/** Keys of an account's screenshots of one month in the bucket. */
interface PastKeys {
  ids: Set<string>
  segments: SegmentName[]
}

/**
 * Units of an account's screenshots of the current month that are only in the bucket, by id: archived and deleted ones. The key of a record
 * does not have its units, so the segments are read. A record that is in no segment counts as one unit.
 */
export async function listPastUnits(account: string, now: Date, deps: PastDeps): Promise<Map<string, number>> {
  const { ids, segments } = await listPastKeys(account, now, deps.objects)
  const units = new Map([...ids].map((id) => [id, 1]))
  await mapConcurrently(segments, CONCURRENT_READS, async (segment) => {
    for (const [id, cost] of await readUnits(account, segment, now, deps)) if (units.has(id)) units.set(id, cost)
  })
  return units
}

/** Keys sort newest day first, so one scan from the start covers exactly this month. */
async function listPastKeys(account: string, now: Date, objects: PastDeps['objects']): Promise<PastKeys> {
  const month = monthOf(now)
  const prefix = recordsPrefix(account)
  const oldest = invertedDay(new Date(`${month}-01T00:00:00.000Z`))
  const found: PastKeys = { ids: new Set(), segments: [] }
  for await (const keys of listPages(prefix, objects)) {
    const recent = keys.filter((key) => key.slice(prefix.length, prefix.length + DAY_DIGITS) <= oldest)
    const { ids, segments, deletedIds } = readRecordKeys(recent, ignoreSilently)
    for (const id of [...ids, ...deletedIds]) if (monthOf(createdAtOf(id)) === month) found.ids.add(id)
    found.segments.push(...segments)
    if (recent.length < keys.length) break
  }
  return found
}

/** Units of the videos in a segment. */
async function readUnits(account: string, segment: SegmentName, now: Date, { objects, report }: PastDeps): Promise<[string, number][]> {
  const { key } = segment
  const text = await readStored('segment', key, { storage: objects, report })
  const lines = readLines(segment, text ?? '').filter(({ line }) => VIDEO.test(line))
  return lines.flatMap(({ id, line }): [string, number][] => {
    const record = readArchived(line, { account, id }, now)
    if (typeof record === 'object') return [[id, unitsOf(record.spec)]]
    report({ kind: 'segment', reason: record, key: `${key}#${id}` })
    return []
  })
}
