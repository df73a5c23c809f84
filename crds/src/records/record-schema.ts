import { z } from 'zod'
import { ComparisonRule, Engine, MovingParts, UNFIT_MEANING, UnfitReason } from '../kinds/comparison.ts'
import { PreviewPlaces } from '../kinds/page-notes.ts'
import { ARTIFACT_TYPES } from '../options/artifacts.ts'
import { MovingFormat, StillFormat } from '../options/output/formats.ts'
import { JOB_ERRORS } from '../schema/errors.ts'
import { anId, count, instant } from '../schema/fields.ts'

// The fields of a record, declared once. The types of the operator and the gateway, the OpenAPI document, and with it the types of the client, the command
// line and the console, follow from them.

export const RecordStatus = z.enum(['pending', 'completed', 'failed'])

export const CaptureError = z
  .object({
    code: z.enum(Object.keys(JOB_ERRORS) as [string, ...string[]]).describe('For programs.'),
    message: z.string().describe('For people.'),
  })
  .describe(
    `Why a capture failed.\n\n${Object.entries(JOB_ERRORS)
      .map(([code, { remedy }]) => `- \`${code}\`: ${remedy}`)
      .join('\n')}`,
  )

const textsByName = (what: string) => z.record(z.string(), z.string()).describe(what)
const milliseconds = z.record(z.string(), z.int())

/** Fields that the metadata_… options add. */
const PageMetadata = {
  image_size: z.object({ width: z.int(), height: z.int() }).describe('Size of the picture in device pixels (metadata_image_size).'),
  redirects: z.array(z.string()).describe('URLs of the redirects to final_url (metadata_final_url).'),
  http_response_headers: textsByName('Headers of the page, without cookies (metadata_http_response_headers).'),
  open_graph: textsByName('Open Graph and Twitter tags, and the description (metadata_open_graph).'),
  icon: z.string().describe('URL of the best icon (metadata_icon).'),
  fonts: z.array(z.string()).describe('Font families that the page uses (metadata_fonts).'),
  timings: z
    .object({
      steps: milliseconds.describe('Duration of each step of the capture.'),
      page: milliseconds.describe('Times of the page, from the start of its navigation.'),
    })
    .describe('Milliseconds (metadata_timings).'),
  content_hash: z
    .object({ sha256: z.string(), perceptual: z.string().optional() })
    .describe('SHA-256 of the file, and a 64-bit perceptual hash in hex: similar pictures share most of its bits (metadata_content_hash).'),
  palette: z.array(z.string()).describe('Main colors of the picture (metadata_palette).'),
  links: z.array(z.string()).describe('URLs that the page links to (metadata_links).'),
  blocked_requests: count('Requests of the page that were blocked (metadata_blocked_requests).'),
}
const optionalNotes = z.object(PageMetadata).partial().shape

const page = z.object({
  page_title: z.string().nullable().describe('Title of the page.'),
  final_url: z.string().nullable().describe('URL after redirects.'),
  http_status: z.int().nullable().describe('HTTP status of the page.'),
  engine: Engine.optional().describe('What drew the picture.'),
  moving_elements: MovingParts.shape.elements.optional().describe('CSS selectors of elements that moved when the picture was taken.'),
  ...optionalNotes,
})

const preview = z
  .object({
    scale: PreviewPlaces.shape.scale,
    width: PreviewPlaces.shape.width,
    height: PreviewPlaces.shape.height,
    shown_width: PreviewPlaces.shape.shownWidth,
    shown_height: PreviewPlaces.shape.shownHeight,
    slice_count: PreviewPlaces.shape.sliceCount,
    slices: PreviewPlaces.shape.slices,
  })
  .describe('Slices in the file of a preview. A Range header reads one slice of it.')

const artifact = z.object({
  type: z.enum(ARTIFACT_TYPES).describe('Kind of the artifact.'),
  download_url: z.string().nullable().describe('A link that needs no key. Null when the file has expired.'),
  file_size_bytes: count('Size in bytes.'),
  preview: preview.optional(),
})

const comparison = z
  .object({
    to: anId('scr', 'Id of the screenshot of compare_to.'),
    changed: z.boolean().describe('True if the page changed. rule says what decided.'),
    changed_ratio: z.number().min(0).max(1).nullable().describe('Changed pixels as a share of all pixels, 0 to 1.'),
    changed_pixels: count('Number of changed pixels.').nullable(),
    size_changed: z
      .boolean()
      .nullable()
      .describe('True if the pictures have different sizes. Pixels that only one of them has are changed.'),
    regions: z
      .array(z.object({ x: z.int(), y: z.int(), width: z.int(), height: z.int() }))
      .describe('Changed regions in pixels of the picture, the largest change first, at most 20. They do not overlap.'),
    region_count: count('Number of changed regions.').nullable(),
    dropped_regions: count('Number of regions that do not count, because two loads of the page differ there.').nullable(),
    rule: ComparisonRule.nullable(),
    loads: z.int().min(1).max(2).nullable().describe('How often the page was loaded: a change is confirmed by a second load.'),
    text_changed: z.boolean().nullable().describe('True if the visible text changed, also outside of the picture. Null: not known.'),
    engine_changed: z.boolean().nullable().describe('True if another browser or other fonts drew the earlier picture. Null: not known.'),
    words_added: z.array(z.string()).describe('New words of the visible text, at most 20.'),
    words_removed: z.array(z.string()).describe('Words that are gone, at most 20.'),
    diff_url: z
      .string()
      .nullable()
      .describe('Link to a PNG of the differences that needs no key. Null if there are none, and after the file has expired.'),
    skipped: UnfitReason.nullable().describe(`Why the pictures were not compared. ${UNFIT_MEANING}`),
  })
  .describe('Comparison with the screenshot of compare_to.')

/** Fields of every full record. */
export const recordFields = {
  id: anId('scr', 'Id of the screenshot.'),
  url: z.string().describe('URL of the page.'),
  url_to_capture: z.string().describe('Same as url. The response to POST /screenshots/batch has only this name.'),
  status: RecordStatus.describe('`pending` until the capture has finished.'),
  options: z
    .record(z.string(), z.unknown())
    .describe('The options of the request. Always includes format, viewport_width, viewport_height and full_page. Secrets are masked.'),
  created_at: instant('Time at which the request was accepted.'),
  started_at: instant('Start of the last attempt.').nullable(),
  completed_at: instant('Time at which the screenshot completed or failed.').nullable(),
  estimated_time: z
    .string()
    .regex(/^\d+-\d+s$/)
    .describe('Estimated minimum and maximum duration, from the queue at creation time and the duration of recent captures.'),
  storage_path: z.string().nullable().describe('Path of the stored file.'),
  file_size_bytes: count('Size of the file in bytes.').nullable(),
  processing_duration_ms: count(
    'Duration of the last attempt in the runner, in milliseconds. For a cached record, duration of the copy.',
  ).nullable(),
  width: count('Width of the picture in device pixels.').nullable(),
  height: count('Height of the picture in device pixels.').nullable(),
  content_type: z.string().describe('MIME type of the file.'),
  download_url: z
    .string()
    .nullable()
    .describe('A link to the file that needs no key. Null until the capture has completed, and after the file has expired.'),
  download_url_expires_at: instant('Expiry of the link.').nullable(),
  artifacts: z.array(artifact).describe('Additional files.'),
  error: CaptureError.nullable().describe('Why the capture failed.'),
  batch_id: anId('batch', 'Id of the batch.').nullable(),
  schedule_id: anId('sch', 'Id of the schedule of which it is a run.').nullable(),
  external_identifier: z.string().nullable().describe('Identifier that the client chose.'),
  metadata: page.nullable().describe('Metadata of the page.'),
  comparison: comparison.nullable(),
  warnings: z.array(z.string()).describe('Options without effect, and problems of the page.'),
  truncated: z.boolean().describe('True when the picture was cut at full_page_max_height or at the size limit of its format.'),
  cached: z.boolean().describe('True when the picture is a copy of an earlier one.'),
  attempts: count('Number of attempts so far.'),
  cost: count(
    'Units of quota that it costs. 0 for a cached picture, and for a failed capture, unless the page used a runner for more than 60 seconds.',
  ),
}

/** The full record of a screenshot, in responses to GET, lists and events. */
export const ScreenshotRecordSchema = z
  .object({ ...recordFields, format: StillFormat.describe('Format of the file.') })
  .describe('The full record of a screenshot. It always has all fields; unknown values are null.')

/** The full record of a video. */
export const VideoRecordSchema = z
  .object({
    ...recordFields,
    id: anId('scr', 'Id of the video. It has the form of a screenshot id.'),
    width: count('Width of the video in pixels.').nullable(),
    height: count('Height of the video in pixels.').nullable(),
    duration_ms: count('Length of the video in milliseconds.').nullable(),
    fps: count('Frames in each second.').nullable(),
    frames: count('Number of frames.').nullable(),
    format: MovingFormat.describe('Format of the file.'),
  })
  .describe('The full record of a video. It always has all fields; unknown values are null.')

export type PageRecord = z.infer<typeof page>
export type PreviewRecord = z.infer<typeof preview>
export type ArtifactRecord = z.infer<typeof artifact>
export type ComparisonRecord = z.infer<typeof comparison>

/** A record of either kind. Only records of videos have the fields of videos. */
export type ScreenshotRecord = Omit<z.infer<typeof VideoRecordSchema>, 'format' | VideoField> & {
  format: string
} & Partial<VideoFields>

type VideoField = 'duration_ms' | 'fps' | 'frames'
/** They are null until the video is completed. */
export type VideoFields = Pick<z.infer<typeof VideoRecordSchema>, VideoField>
