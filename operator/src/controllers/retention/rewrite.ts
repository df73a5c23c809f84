// Compaction: rewrites segments that contain deleted records, and joins small segments of past days. New segments are written before old ones are
// deleted; readers that listed the old ones list again. Marks name the days, so nothing is searched.

import type { Log } from '@tintype/crds/client/log'
import { type Line, readArchived, readLines, toSegments } from '@tintype/crds/records/archive'
import { prefixOf } from '@tintype/crds/records/folders'
import { isFuture, parseKeys } from '@tintype/crds/records/ignored-objects'
import {
  JOIN,
  MAX_SEGMENT_RECORDS,
  objectKeyPrefix,
  recordKey,
  rewriteKey,
  type SegmentName,
  segmentsPrefix,
  startOfDay,
} from '@tintype/crds/records/storage-keys'
import { findDeleted, type MarkChecks, readRecordKeys } from '@tintype/crds/storage/archive'
import { listPages, readStored } from '@tintype/crds/storage/stored-objects'
import type { Storage } from '../../storage/storage.ts'

export interface RewriteDeps extends MarkChecks {
  storage: Pick<Storage, 'readText' | 'write' | 'list' | 'remove' | 'removePrefix'>
  mayContinue: () => boolean
  now: () => Date
  log: Log
}

/** The work for one day of one account. */
interface RewriteJob {
  account: string
  day: string
  /** Ids of deleted records. */
  ids: string[]
  joins: boolean
}

const DAY_MILLISECONDS = 86_400_000
/** Captures may end, and be archived, some time after the day on which they were requested. */
const JOIN_AFTER_MILLISECONDS = DAY_MILLISECONDS + 7_200_000
/** Segments with fewer records are joined. */
const SMALL = MAX_SEGMENT_RECORDS / 2
/** Maximum number of records in memory, and of their characters after which no further segment is read. */
const MAX_LINES = 4 * MAX_SEGMENT_RECORDS
const MAX_CHARACTERS = 8 * 1024 * 1024

/** Processes the marks. @throws RetryableError; marks stay until their work is done */
export async function rewrite(deps: RewriteDeps): Promise<void> {
  for await (const keys of listPages(prefixOf('rewrites'), deps.storage)) {
    for (const job of toJobs(keys, deps)) {
      if (!deps.mayContinue()) return
      const isOver = deps.now().getTime() - startOfDay(job.day).getTime() >= JOIN_AFTER_MILLISECONDS
      await rewriteDay({ ...job, joins: job.joins && isOver }, deps)
    }
  }
}

function toJobs(keys: readonly string[], { report, now }: Pick<RewriteDeps, 'report' | 'now'>): RewriteJob[] {
  const marks = parseKeys('rewrite', keys, report).filter(({ account, day, what }) => {
    const isLater = isFuture(startOfDay(day), now())
    if (isLater) report({ kind: 'rewrite', reason: 'time', key: rewriteKey(account, day, what) })
    return !isLater
  })
  return [...Map.groupBy(marks, ({ account, day }) => `${account}/${day}`).values()].map((group) => ({
    account: group[0]!.account,
    day: group[0]!.day,
    ids: group.map(({ what }) => what).filter((what) => what !== JOIN),
    joins: group.some(({ what }) => what === JOIN),
  }))
}

async function rewriteDay(job: RewriteJob, deps: RewriteDeps): Promise<void> {
  const { account, day, joins } = job
  if (job.ids.length === 0 && !joins) return
  const { storage, report } = deps
  const ids = [...(await findDeleted(account, job.ids, deps))]
  const segments = (await listSegments(account, day, deps)).filter((segment) => concerns(segment, { ids, joins }))
  for (let left = segments; left.length > 0; ) {
    if (!deps.mayContinue()) return
    const part = await readPart(account, left, deps)
    await replace(account, part, deps)
    left = left.slice(part.count)
  }
  // Delete what a crash of the gateway left.
  await storage.remove(ids.map((id) => recordKey(account, id)))
  for (const id of ids) await storage.removePrefix(objectKeyPrefix(account, id))
  // An unconfirmed deletion has no effect. Its mark stays, because the keys may have been rotated since this operator started.
  for (const id of job.ids) if (!ids.includes(id)) report({ kind: 'rewrite', reason: 'unconfirmed', key: rewriteKey(account, day, id) })
  await storage.remove([...ids, ...(joins ? [JOIN] : [])].map((what) => rewriteKey(account, day, what)))
  if (ids.length + segments.length > 0)
    deps.log.info({ account, day, deleted: ids.length, segments: segments.length }, 'segments rewritten')
}

const concerns = ({ first, last, count }: SegmentName, { ids, joins }: Pick<RewriteJob, 'ids' | 'joins'>): boolean =>
  (joins && count < SMALL) || ids.some((id) => first <= id && id <= last)

async function listSegments(account: string, day: string, { storage, report }: RewriteDeps): Promise<SegmentName[]> {
  const names: SegmentName[] = []
  for await (const keys of listPages(segmentsPrefix(account, day), storage)) names.push(...readRecordKeys(keys, report).segments)
  return names
}

/** Segments in memory. */
interface Part {
  /** How many segments were tried. */
  count: number
  /** Keys of those that could be read. */
  keys: string[]
  lines: Line[]
}

/** Reads the first of these segments, as many as fit into memory. */
async function readPart(account: string, segments: readonly SegmentName[], deps: RewriteDeps): Promise<Part> {
  const part: Part = { count: 0, keys: [], lines: [] }
  let characters = 0
  for (const segment of segments) {
    if (part.count > 0 && (part.lines.length + segment.count > MAX_LINES || characters > MAX_CHARACTERS)) break
    const lines = await readWhole(account, segment, deps)
    part.count++
    if (!lines) continue
    part.lines.push(...lines)
    part.keys.push(segment.key)
    characters += lines.reduce((sum, { line }) => sum + line.length, 0)
  }
  return part
}

/** Reads the lines of a segment; undefined when a line cannot be read: it may be from another version, so the segment stays unchanged. */
async function readWhole(account: string, segment: SegmentName, { storage, report, now }: RewriteDeps): Promise<Line[] | undefined> {
  const { key, count } = segment
  const text = await readStored('segment', key, { storage, report })
  if (text === undefined) return undefined
  const lines = readLines(segment, text)
  const isRecord = ({ id, line }: Line): boolean => typeof readArchived(line, { account, id }, now()) === 'object'
  if (lines.length === count && lines.every(isRecord)) return lines
  report({ kind: 'segment', reason: 'content', key })
  return undefined
}

async function replace(account: string, { keys: read, lines }: Part, deps: RewriteDeps): Promise<void> {
  const { storage } = deps
  const deleted = await findDeleted(
    account,
    lines.map(({ id }) => id),
    deps,
  )
  const made = toSegments(
    account,
    lines.filter(({ id }) => !deleted.has(id)),
  )
  for (const { key, text } of made) await storage.write(key, text)
  // The same records give the same key: unchanged segments stay.
  const keys = new Set(made.map(({ key }) => key))
  await storage.remove(read.filter((key) => !keys.has(key)))
}
