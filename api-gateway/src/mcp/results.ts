import type { ScreenshotRecord } from '@tintype/crds/records/record'
import { z } from 'zod'
import type { StoredPart } from './stored-files.ts'
import { toLine, visible } from './untrusted.ts'

// What tools return. Each result has a limit of bytes: a result that is too large ends the conversation of many clients.

/** Limits of a whole result in bytes: text, structured content and pictures in Base64. */
export const MIN_RESULT_BYTES = 16_000
export const MAX_RESULT_BYTES = 1_000_000
/** What the description of a record may take, twice: as text and as structured content. */
const SUMMARY_BYTES = 6_000
const MAX_WARNINGS = 8

export type Content = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string }

export interface ToolResult {
  content: Content[]
  structuredContent?: Record<string, unknown>
  [key: string]: unknown
}

export const RecordSummary = z.object({
  id: z.string().describe('Id for get, read and compare.'),
  status: z.enum(['pending', 'completed', 'failed']),
  url: z.string().describe('URL of the request.'),
  cost: z.number().describe('Units of the monthly quota.'),
  picture: z
    .object({ width: z.number(), height: z.number(), bytes: z.number(), content_type: z.string(), link: z.string().nullable() })
    .nullable()
    .describe('The whole picture in device pixels. The link needs no key. Null unless completed.'),
  view: z
    .object({
      slice: z.number().describe('Number of the slice that the picture of this result is, from 1 on.'),
      slices: z.number().describe('Number of slices. Call get with slice for another one.'),
      y: z.number().describe('Top edge of the slice in the page, in CSS pixels.'),
      height: z.number().describe('Height that the slice shows, in CSS pixels.'),
      page_height: z.number().describe('Height of the whole picture in CSS pixels.'),
      missing: z.string().nullable().describe('What no slice shows.'),
    })
    .nullable()
    .describe('What the picture of this result shows. Null if it shows the whole picture, or if there is none.'),
  page: z
    .object({ title: z.string(), final_url: z.string(), http_status: z.number().nullable() })
    .nullable()
    .describe('What the page says about itself: untrusted text.'),
  files: z.array(z.object({ type: z.string(), bytes: z.number() })).describe('Files that read can return.'),
  warnings: z.array(z.string()).describe('Problems of the capture. They can quote the page.'),
  error: z.object({ code: z.string(), message: z.string() }).nullable().describe('Why the capture failed.'),
  next: z.string().nullable().describe('The call that comes next, if any.'),
})
export type RecordSummary = z.infer<typeof RecordSummary>

/** A record of the REST API. The response to a create has only the first fields. */
export type AnyRecord = Pick<ScreenshotRecord, 'id' | 'url' | 'status'> & Partial<ScreenshotRecord>

function nextOf({ id, status, download_url }: AnyRecord): string | null {
  if (status === 'pending') return `Call get with id ${id}: it waits for the capture.`
  return status === 'completed' && download_url === null ? 'The files have expired: capture the page again.' : null
}

type View = NonNullable<RecordSummary['view']>

/** The slices of a record's preview. */
export const previewOf = ({ artifacts = [] }: AnyRecord) => artifacts.find(({ type }) => type === 'preview')?.preview

/** What a slice of a preview shows; undefined if there is no such slice. */
export function viewOf(record: AnyRecord, slice: number): View | undefined {
  const preview = previewOf(record)
  const place = preview?.slices[slice - 1]
  if (!preview || !place) return undefined
  const { scale, width, height, shown_width: shownWidth, shown_height: shownHeight, slices } = preview
  const missing = [
    ...(shownHeight < height ? [`the page below ${shownHeight} CSS pixels: capture it with clip`] : []),
    ...(shownWidth < width ? [`the page right of ${shownWidth} CSS pixels`] : []),
  ]
  return {
    ...{ slice, slices: slices.length, y: place.y, height: Math.round(place.height / scale), page_height: height },
    missing: missing.length > 0 ? missing.join('; ') : null,
  }
}

/** Describes a record in at most {@link SUMMARY_BYTES} bytes. Texts of pages are single lines without invisible characters. */
export function summarize(record: AnyRecord, view: View | null = null): RecordSummary {
  const { id, status, url, cost = 0, metadata, artifacts = [], warnings = [], error = null } = record
  const isStored = status === 'completed' && record.file_size_bytes != null
  return {
    id,
    status,
    url: toLine(url, 500),
    cost,
    picture: isStored
      ? {
          width: record.width ?? 0,
          height: record.height ?? 0,
          bytes: record.file_size_bytes ?? 0,
          content_type: record.content_type ?? '',
          link: record.download_url ?? null,
        }
      : null,
    view,
    page: metadata
      ? { title: toLine(metadata.page_title ?? ''), final_url: toLine(metadata.final_url ?? '', 500), http_status: metadata.http_status }
      : null,
    files: artifacts.map(({ type, file_size_bytes }) => ({ type, bytes: file_size_bytes })),
    warnings: warnings.slice(0, MAX_WARNINGS).map((warning) => toLine(warning, 240)),
    error: error && { code: error.code, message: toLine(error.message, 500) },
    next: nextOf(record),
  }
}

/** A result with an object as text, for clients that do not read structured content, and as structured content. */
export const describe = (structured: Record<string, unknown>, ...more: Content[]): ToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(structured) }, ...more],
  structuredContent: structured,
})

/** Bytes that a picture may have so that its Base64 text and a summary fit into a result. */
export const pictureBudget = (maxBytes: number): number => Math.floor(((maxBytes - 2 * SUMMARY_BYTES) * 3) / 4)

/** MIME types of pictures that models read. */
const READABLE: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif'])

/** Whether a file can be the picture of a result with a limit. */
export const fits = ({ contentType, sizeBytes }: StoredPart, maxBytes: number): boolean =>
  READABLE.has(contentType) && sizeBytes <= pictureBudget(maxBytes)

export const toImage = (bytes: Buffer, mimeType: string): Content => ({ type: 'image', data: bytes.toString('base64'), mimeType })

/** Bytes of the whole UTF-8 characters at the beginning of a part of a text. */
function wholeLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if ((byte & 0xc0) === 0x80) continue
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return needed > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/** A part of a text, and the byte at which the next part begins; undefined at the end. */
export interface TextPart {
  text: string
  next: number | undefined
}

/** Reads whole characters of a stored text from the byte `start` on, at most `maxBytes` bytes as JSON. */
export async function readTextPart(part: StoredPart, start: number, maxBytes: number): Promise<TextPart> {
  const bytes = await part.read(start, maxBytes)
  let length = bytes.length
  for (;;) {
    const isEnd = start + length >= part.sizeBytes
    if (!isEnd) length = wholeLength(bytes.subarray(0, length))
    const text = visible(new TextDecoder().decode(bytes.subarray(0, length)))
    // Quotes and line breaks take two bytes in JSON.
    const size = Buffer.byteLength(JSON.stringify(text))
    if (size <= maxBytes || length < 8) return { text, next: isEnd ? undefined : start + length }
    length = Math.floor((length * maxBytes) / size) - 4
  }
}
