import { createHash } from 'node:crypto'
import { isScreenshotId, screenshotIdOf } from '../identifiers/ids.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import { FORMAT_VERSION, parseArchived } from './archived-record.ts'
import { dayOf, segmentsPrefix } from './storage-keys.ts'

// Records that have left the Kubernetes API, as text: one JSON object a record, alone in an object of its own for who asks by id, and as a
// line of a segment for lists. A segment holds records of one account and one day, in the order of their ids, which is newest first.
// The same record may stand in several segments: whoever reads merges by id. Segments are never changed, only replaced by others.

/** Records of one segment, at most. */
export const MAX_SEGMENT_RECORDS = 1_000
/** Bytes of one segment, at most, unless one record alone is larger. */
const MAX_SEGMENT_BYTES = 4 * 1024 * 1024

const KEPT_ANNOTATIONS = /^tintype\.dev\//

/** The text of a record: all that readers see, without deliveries and without what only its capture needed. One line. */
export function toArchivedLine({ metadata, spec, status = {} }: Screenshot): string {
  const { name, namespace, uid, resourceVersion, creationTimestamp, annotations = {} } = metadata
  const kept = Object.entries(annotations).filter(([key]) => KEPT_ANNOTATIONS.test(key))
  const { sealedOptions: _, optionsObject: __, ...shown } = spec
  const { deliveries: ___, runner: ____, ...seen } = status
  return JSON.stringify({
    // First and of one length, so that a segment's ids can be read without parsing its lines.
    id: screenshotIdOf(metadata),
    v: FORMAT_VERSION,
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp,
      ...(kept.length > 0 ? { annotations: Object.fromEntries(kept) } : {}),
    },
    spec: shown,
    status: seen,
  })
}

/**
 * Reads what {@link toArchivedLine} wrote.
 * @throws Error when it is something else
 */
export function parseArchivedLine(line: string): Screenshot {
  const record = parseArchived(line)
  if (!record) throw new Error('the text is not an archived record')
  return record
}

/** A segment by its key: the range of its ids and how many there are. */
export interface SegmentName {
  key: string
  /** The smallest id: the newest record. */
  first: string
  last: string
  count: number
}

/** A segment to be written. */
export interface Segment extends SegmentName {
  text: string
}

/** A record of a segment, not parsed yet. */
export interface Line {
  id: string
  line: string
}

/** The lines of records, as they are archived. */
export const toLines = (screenshots: readonly Screenshot[]): Line[] =>
  screenshots.map((screenshot) => ({ id: screenshotIdOf(screenshot.metadata), line: toArchivedLine(screenshot) }))

/** Puts records into segments: by account and day, in order, within bounds. The same records give the same keys and texts. */
export const buildSegments = (account: string, screenshots: readonly Screenshot[]): Segment[] => toSegments(account, toLines(screenshots))

/** As {@link buildSegments}, from lines that were made or read. */
export function toSegments(account: string, lines: readonly Line[]): Segment[] {
  const segments: Segment[] = []
  let open: Line[] = []
  let bytes = 0
  const close = (): void => {
    if (open.length > 0) segments.push(toSegment(account, open))
    open = []
    bytes = 0
  }
  for (const entry of mergeLines(lines)) {
    const size = Buffer.byteLength(entry.line) + 1
    const isOther = open[0] !== undefined && dayOf(open[0].id) !== dayOf(entry.id)
    if (isOther || open.length >= MAX_SEGMENT_RECORDS || bytes + size > MAX_SEGMENT_BYTES) close()
    open.push(entry)
    bytes += size
  }
  close()
  return segments
}

/** Sorts by id and leaves one line an id: the one that was written later, by its resourceVersion. */
function mergeLines(lines: readonly Line[]): Line[] {
  const byId = new Map<string, Line>()
  for (const entry of lines) {
    const known = byId.get(entry.id)
    if (known === undefined || versionOf(entry) >= versionOf(known)) byId.set(entry.id, entry)
  }
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}

const versionOf = ({ line }: Line): number => Number(parseArchivedLine(line).metadata.resourceVersion)

function toSegment(account: string, lines: readonly Line[]): Segment {
  const first = lines[0]!.id
  const last = lines.at(-1)!.id
  const count = lines.length
  const text = lines.map(({ line }) => `${line}\n`).join('')
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 12)
  const key = `${segmentsPrefix(account, dayOf(first))}${first}.${last}.${count}.${digest}.ndjson`
  return { key, first, last, count, text }
}

const SEGMENT_NAME =
  /^records\/[a-z0-9-]{1,63}\/(\d{5})\/segments\/(scr_[0-9a-z]{26})\.(scr_[0-9a-z]{26})\.([1-9]\d{0,3})\.[0-9a-f]{12}\.ndjson$/

/** What the key of a segment says; undefined for other keys, also for one that lies under another day than its ids are of. */
export function parseSegmentKey(key: string): SegmentName | undefined {
  const [, day, first = '', last = '', count] = SEGMENT_NAME.exec(key) ?? []
  const isInDay = isScreenshotId(first) && isScreenshotId(last) && first <= last && dayOf(first) === day && dayOf(last) === day
  return isInDay && Number(count) <= MAX_SEGMENT_RECORDS ? { key, first, last, count: Number(count) } : undefined
}

const ID_START = '{"id":"'.length
const ID_END = ID_START + 'scr_'.length + 26

/** The lines of a segment with their ids. */
export function readSegment(text: string): Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ id: line.slice(ID_START, ID_END), line }))
}

/** The lines of a segment that lie where its key says: their ids within its range, each beyond the one before. */
export function linesInPlace({ first, last }: Pick<SegmentName, 'first' | 'last'>, lines: readonly Line[]): Line[] {
  const kept: Line[] = []
  for (const line of lines) {
    const isBeyond = line.id > (kept.at(-1)?.id ?? '')
    if (isScreenshotId(line.id) && isBeyond && line.id >= first && line.id <= last) kept.push(line)
  }
  return kept
}
