import { createHash } from 'node:crypto'
import { isScreenshotId, screenshotIdOf } from '../identifiers/ids.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import type { Whole } from '../schema/custom-resource.ts'
import { FORMAT_VERSION, parseArchived } from './archived-record.ts'
import { dayOf, MAX_SEGMENT_RECORDS, type SegmentName, segmentKey } from './storage-keys.ts'

// Archived records, which the Kubernetes API no longer has. Each record is one JSON text. The bucket stores it twice: in its own object for reads
// by id, and as a line of a segment for lists. A segment contains records of one account and one day, sorted by id, which is newest first.
// A record may be in several segments, so readers merge by id. Segments are immutable and are replaced by new ones.

/** Maximum bytes of one segment, unless a single record is larger. */
const MAX_SEGMENT_BYTES = 4 * 1024 * 1024

const KEPT_ANNOTATIONS = /^tintype\.dev\//

/** Deliveries that are still open: the archive continues with them. */
function openOnly(deliveries: NonNullable<Screenshot['status']>['deliveries'] = {}) {
  const open = Object.entries(deliveries).flatMap(([event, entries]) => {
    const kept = Object.entries(entries).filter(([, { state }]) => state === 'open')
    return kept.length > 0 ? [[event, Object.fromEntries(kept)] as const] : []
  })
  return open.length > 0 ? { deliveries: Object.fromEntries(open) } : {}
}

/** Converts a record to one line of text, without its ended deliveries and the fields that only its capture needs. */
export function toArchivedLine({ metadata, spec, status = {} }: Whole<Screenshot>): string {
  const { name, namespace, uid, resourceVersion, creationTimestamp, annotations = {} } = metadata
  const kept = Object.entries(annotations).filter(([key]) => KEPT_ANNOTATIONS.test(key))
  const { sealedOptions: _, optionsObject: __, baseline: _baseline, ...shown } = spec
  const { deliveries, runner: ___, ...seen } = status
  return JSON.stringify({
    // The first field, with a fixed length, so that readers can find the ids of a segment without parsing its lines.
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
    status: { ...seen, ...openOnly(deliveries) },
  })
}

/**
 * Reads a line of {@link toArchivedLine}.
 * @throws Error if the line is not an archived record
 */
export function parseArchivedLine(line: string): Whole<Screenshot> {
  const record = parseArchived(line)
  if (!record) throw new Error('the text is not an archived record')
  return record
}

/** A segment to write. */
export interface Segment extends SegmentName {
  text: string
}

/** An unparsed record of a segment. */
export interface Line {
  id: string
  line: string
}

/** Converts records to archived lines. */
export const toLines = (screenshots: readonly Whole<Screenshot>[]): Line[] =>
  screenshots.map((screenshot) => ({ id: screenshotIdOf(screenshot.metadata), line: toArchivedLine(screenshot) }))

/** Groups records by day into sorted segments within the limits. The same records always give the same keys and texts. */
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

/** Sorts by id and keeps one line per id: the one with the higher resourceVersion. */
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
  const key = segmentKey(account, { first, last, count }, digest)
  return { key, first, last, count, text }
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

/** Reads the lines of a segment whose ids are in ascending order and in the range of its key. */
export function readLines({ first, last }: Pick<SegmentName, 'first' | 'last'>, text: string): Line[] {
  const kept: Line[] = []
  for (const line of readSegment(text)) {
    const isBeyond = line.id > (kept.at(-1)?.id ?? '')
    if (isScreenshotId(line.id) && isBeyond && line.id >= first && line.id <= last) kept.push(line)
  }
  return kept
}
