// Segments that hold deleted records, and small ones of days that are over, are written anew: the new ones first, then the old ones are
// removed. Readers that listed the old ones list again. The days are found by marks, so that nothing is searched.

import { type Line, MAX_SEGMENT_RECORDS, parseSegmentKey, readSegment, type SegmentName, toSegments } from '@tintype/crds/archive'
import type { Log } from '@tintype/crds/client/log'
import {
  JOIN,
  objectKeyPrefix,
  parseRewriteKey,
  REWRITES_PREFIX,
  recordKey,
  rewriteKey,
  segmentsPrefix,
  startOfDay,
} from '@tintype/crds/storage-keys'
import { PAGE } from '../storage/objects.ts'
import type { Storage } from '../storage/storage.ts'
import { findBuried } from './tombstones.ts'

export interface RewriteDeps {
  storage: Pick<Storage, 'readText' | 'write' | 'list' | 'remove' | 'removePrefix'>
  mayWrite: () => boolean
  now: () => Date
  log: Log
}

/** What is to be done about one account's day. */
interface Order {
  account: string
  day: string
  /** Ids of deleted records. */
  ids: string[]
  joins: boolean
}

const DAY_MILLISECONDS = 86_400_000
/** Captures may end, and be archived, some time after the day on which they were asked for. */
const JOIN_AFTER_MILLISECONDS = DAY_MILLISECONDS + 7_200_000
/** Segments with fewer records are joined. */
const SMALL = MAX_SEGMENT_RECORDS / 2
/** Records in memory at a time. */
const MAX_LINES = 4 * MAX_SEGMENT_RECORDS
/** A segment holds 4 MiB, or one record of 1.5 at most. */
const MAX_SEGMENT_BYTES = 8 * 1024 * 1024

/** Does what the marks ask for. @throws RetryableError; marks stay until their work is done */
export async function rewrite(deps: RewriteDeps): Promise<void> {
  for (let after: string | undefined; ; ) {
    const keys = await deps.storage.list(REWRITES_PREFIX, { after, limit: PAGE })
    for (const order of toOrders(keys)) {
      if (!deps.mayWrite()) return
      const isOver = deps.now().getTime() - startOfDay(order.day).getTime() >= JOIN_AFTER_MILLISECONDS
      await carryOut({ ...order, joins: order.joins && isOver }, deps)
    }
    if (keys.length < PAGE) return
    after = keys.at(-1)
  }
}

function toOrders(keys: readonly string[]): Order[] {
  const marks = keys.flatMap((key) => parseRewriteKey(key) ?? [])
  return [...Map.groupBy(marks, ({ account, day }) => `${account}/${day}`).values()].map((group) => ({
    account: group[0]!.account,
    day: group[0]!.day,
    ids: group.map(({ what }) => what).filter((what) => what !== JOIN),
    joins: group.some(({ what }) => what === JOIN),
  }))
}

async function carryOut(order: Order, deps: RewriteDeps): Promise<void> {
  const { account, day, ids, joins } = order
  if (ids.length === 0 && !joins) return
  const { storage } = deps
  const segments = (await listSegments(account, day, storage)).filter((segment) => concerns(segment, order))
  for (const batch of toBatches(segments)) {
    if (!deps.mayWrite()) return
    await replace(account, batch, storage)
  }
  // What a crash of the gateway left.
  await storage.remove(ids.map((id) => recordKey(account, id)))
  for (const id of ids) await storage.removePrefix(objectKeyPrefix(account, id))
  await storage.remove([...ids, ...(joins ? [JOIN] : [])].map((what) => rewriteKey(account, day, what)))
  deps.log.info({ account, day, deleted: ids.length, segments: segments.length }, 'segments written anew')
}

const concerns = ({ first, last, count }: SegmentName, { ids, joins }: Order): boolean =>
  (joins && count < SMALL) || ids.some((id) => first <= id && id <= last)

async function listSegments(account: string, day: string, storage: RewriteDeps['storage']): Promise<SegmentName[]> {
  const prefix = segmentsPrefix(account, day)
  const names: SegmentName[] = []
  for (let after: string | undefined; ; ) {
    const keys = await storage.list(prefix, { after, limit: PAGE })
    names.push(...keys.flatMap((key) => parseSegmentKey(key) ?? []))
    if (keys.length < PAGE) return names
    after = keys.at(-1)
  }
}

/** Neighbours together, as many as may be in memory. */
function toBatches(segments: readonly SegmentName[]): SegmentName[][] {
  const batches: SegmentName[][] = []
  let lines = MAX_LINES
  for (const segment of segments) {
    if (lines + segment.count > MAX_LINES) {
      batches.push([])
      lines = 0
    }
    batches.at(-1)!.push(segment)
    lines += segment.count
  }
  return batches
}

async function replace(account: string, segments: readonly SegmentName[], storage: RewriteDeps['storage']): Promise<void> {
  const lines: Line[] = []
  for (const { key } of segments) lines.push(...readSegment((await storage.readText(key, MAX_SEGMENT_BYTES)) ?? ''))
  const buried = await findBuried(
    account,
    lines.map(({ id }) => id),
    storage,
  )
  const made = toSegments(
    account,
    lines.filter(({ id }) => !buried.has(id)),
  )
  for (const { key, text } of made) await storage.write(key, text)
  // The same records give the same key: what was as it should be stays.
  const keys = new Set(made.map(({ key }) => key))
  await storage.remove(segments.map(({ key }) => key).filter((key) => !keys.has(key)))
}
