import { ARTIFACT_TYPES } from '@tintype/crds/options/artifacts'
import { FileFormat } from '@tintype/crds/options/output/image'
import type { ScreenshotRecord as Wire } from '@tintype/crds/records/record'
import { JOB_ERRORS } from '@tintype/crds/schema/errors'
import { z } from 'zod'
import { anId, count, instant, success } from './common.ts'
import { name } from './naming.ts'

export const id = anId('scr', 'Id of the screenshot.')
export const url = z.string().describe('Address of the page.')
export const status = z.enum(['pending', 'completed', 'failed'])
const options = z
  .record(z.string(), z.unknown())
  .describe('The options that were chosen, and format, viewport_width, viewport_height and full_page always. Secrets are masked.')
export const createdAt = instant('When it was accepted.')
export const estimatedTime = z
  .string()
  .regex(/^\d+-\d+s$/)
  .describe('How long it takes, from and to, by the queue at its creation and the time that captures took lately.')

export const CaptureError = name(
  'CaptureError',
  z
    .object({
      code: z.enum(Object.keys(JOB_ERRORS) as [string, ...string[]]).describe('For programs.'),
      message: z.string().describe('For people.'),
    })
    .describe(
      `Why a capture failed.\n\n${Object.entries(JOB_ERRORS)
        .map(([code, { remedy }]) => `- \`${code}\`: ${remedy}`)
        .join('\n')}`,
    ),
)

/** The response to a create . */
export const CreatedScreenshot = name(
  'CreatedScreenshot',
  z
    .object({ id, url, status: z.literal('pending'), options, created_at: createdAt, estimated_time: estimatedTime })
    .describe('A screenshot that was accepted.'),
)

const textsByName = (what: string) => z.record(z.string(), z.string()).describe(what)
const milliseconds = z.record(z.string(), z.int())

/** What the metadata_… options add. */
const PageNotesOnTheWire = {
  image_size: z.object({ width: z.int(), height: z.int() }).describe('Size of the picture in device pixels (metadata_image_size).'),
  redirects: z.array(z.string()).describe('Addresses that led to final_url (metadata_final_url).'),
  http_response_headers: textsByName('Headers of the page, without cookies (metadata_http_response_headers).'),
  open_graph: textsByName('Open Graph and Twitter tags, description (metadata_open_graph).'),
  icon: z.string().describe('Address of the best icon (metadata_icon).'),
  fonts: z.array(z.string()).describe('Font families that the page is drawn with (metadata_fonts).'),
  timings: z
    .object({ steps: milliseconds.describe('Of the capture.'), page: milliseconds.describe('Of the page, from its navigation on.') })
    .describe('Milliseconds (metadata_timings).'),
  content_hash: z
    .object({ sha256: z.string(), perceptual: z.string().optional() })
    .describe('SHA-256 of the file, and 64 bits in hex of which alike pictures share most (metadata_content_hash).'),
  palette: z.array(z.string()).describe('Main colors of the picture (metadata_palette).'),
  links: z.array(z.string()).describe('Addresses that the page links to (metadata_links).'),
  blocked_requests: count('Requests of the page that were blocked (metadata_blocked_requests).'),
}
const optionalNotes = z.object(PageNotesOnTheWire).partial().shape

const page = z.object({
  page_title: z.string().nullable().describe('Title of the page.'),
  final_url: z.string().nullable().describe('Address after redirects.'),
  http_status: z.int().nullable().describe('HTTP status of the page.'),
  ...optionalNotes,
})

const artifact = z.object({
  type: z.enum(ARTIFACT_TYPES).describe('What it is.'),
  download_url: z.string().nullable().describe('A link that needs no key; null when the file has expired.'),
  file_size_bytes: count('Size in bytes.'),
})

/** The full record: GET, lists and events . */
export const ScreenshotRecord = name(
  'Screenshot',
  z
    .object({
      id,
      url,
      url_to_capture: z.string().describe('The same as url, under the name that events use.'),
      status: status.describe('`pending` until the capture has ended.'),
      options,
      created_at: createdAt,
      started_at: instant('When the last attempt began.').nullable(),
      completed_at: instant('When it ended, either way.').nullable(),
      estimated_time: estimatedTime,
      storage_path: z.string().nullable().describe('Path of the stored file.'),
      file_size_bytes: count('Size of the file in bytes.').nullable(),
      processing_duration_ms: count('Milliseconds from the order to the stored file.').nullable(),
      width: count('Width of the picture in device pixels.').nullable(),
      height: count('Height of the picture in device pixels.').nullable(),
      format: FileFormat.describe('Format of the file.'),
      content_type: z.string().describe('MIME type of the file.'),
      download_url: z
        .string()
        .nullable()
        .describe('A link to the file that needs no key; null until there is one, and when the file has expired.'),
      download_url_expires_at: instant('When the link ends.').nullable(),
      artifacts: z.array(artifact).describe('Files beside the picture.'),
      error: CaptureError.nullable().describe('Why it failed.'),
      batch_id: anId('batch', 'The batch that it belongs to.').nullable(),
      external_identifier: z.string().nullable().describe('The caller’s own name for it.'),
      metadata: page.nullable().describe('What the page told.'),
      warnings: z.array(z.string()).describe('What had no effect, or not the one that was meant.'),
      truncated: z.boolean().describe('The page was taller than the picture.'),
      cached: z.boolean().describe('The picture is a copy of an earlier one.'),
      attempts: count('Attempts so far.'),
    })
    .describe('The full record of a screenshot: always all fields, null where nothing is known.') satisfies z.ZodType<Wire>,
)

export const ScreenshotList = name(
  'ScreenshotList',
  z
    .object({
      success,
      data: z.array(ScreenshotRecord),
      pagination: z.object({
        limit: count('Records a page.'),
        offset: count('Records skipped.'),
        has_more: z.boolean().describe('There are more after these.'),
        next_cursor: z.string().nullable().describe('`cursor` of the next page.'),
      }),
    })
    .describe('A page of screenshots, newest first.'),
)
