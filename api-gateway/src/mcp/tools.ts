import { ARTIFACT_TYPES, type ArtifactType } from '@tintype/crds/options/artifacts'
import { MAX_PREVIEW_SLICES, previewDefaults } from '@tintype/crds/options/output/preview'
import { CUT, MASK } from '@tintype/crds/text/cut-text'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type RestCalls, RestError } from './rest-calls.ts'
import {
  type AnyRecord,
  type Content,
  describe,
  fits,
  MAX_RESULT_BYTES,
  MIN_RESULT_BYTES,
  pictureBudget,
  previewOf,
  RecordSummary,
  readTextPart,
  summarize,
  type ToolResult,
  toImage,
  viewOf,
} from './results.ts'
import { openPart, type StoredFilesDeps } from './stored-files.ts'
import { markUntrusted } from './untrusted.ts'

// The tools of the MCP endpoint. They call the REST API, and read stored files of the account.

/** What a tool works with: one request of a client. */
export interface ToolContext {
  rest: RestCalls
  request: Pick<FastifyRequest, 'accountName' | 'id' | 'log'>
  deps: StoredFilesDeps
}

export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  name: string
  title: string
  /** One sentence that a model understands, and what the tool costs. */
  description: string
  input: Input
  output: z.ZodObject
  /** Whether it creates something, and so costs quota. */
  isReadOnly: boolean
  run(input: z.infer<Input>, context: ToolContext): Promise<ToolResult>
}

const tool = <Input extends z.ZodObject>(declared: Tool<Input>): Tool => declared as unknown as Tool

/** Seconds that a tool waits for a capture, the maximum of REST. Clients end calls after 60 seconds. */
const WAIT_SECONDS = '25'

const id = z.string().max(40).describe('Id of a capture, such as scr_….')
const maxBytes = z
  .int()
  .min(MIN_RESULT_BYTES)
  .max(MAX_RESULT_BYTES)
  .default(400_000)
  .describe('Largest result in bytes, with the picture. A picture that does not fit is left out, and its link remains.')
const options = z
  .record(z.string(), z.unknown())
  .describe('Other options of the REST API by name, such as {"timezone": "Europe/Vienna"}. They are validated as REST does.')
const idempotencyKey = z
  .string()
  .max(255)
  .describe('Any unique text. A repeated call with the same text returns the same capture and costs nothing.')

/** What a capture shows, in the names of the REST API. */
const page = {
  url: z.string().max(8_192).describe('URL of the page, http or https. Give one of url, html and markdown.').optional(),
  html: z.string().describe('A whole page as HTML, instead of url.').optional(),
  markdown: z.string().describe('A page as Markdown, instead of url.').optional(),
  full_page: z.boolean().describe('The whole page instead of the window.').optional(),
  device: z.string().max(64).describe('Device to emulate, such as iphone_15_pro. GET /v1/devices lists all.').optional(),
  dark_mode: z.boolean().describe('Asks the page for its dark colors.').optional(),
  selector: z.string().max(1_024).describe('CSS selector of one element to show instead of the page.').optional(),
  clip: z
    .object({ x: z.int().min(0), y: z.int().min(0), width: z.int().min(1), height: z.int().min(1) })
    .describe('A region of the page in CSS pixels.')
    .optional(),
  wait_for_selector: z.string().max(1_024).describe('CSS selector of an element to wait for before the picture is taken.').optional(),
  delay: z.int().min(0).max(60_000).describe('Milliseconds to wait before the picture is taken.').optional(),
  options: options.optional(),
  idempotency_key: idempotencyKey.optional(),
}
const Page = z.object(page)
type Page = z.infer<typeof Page>

/** The body of POST /screenshots. */
function toBody({ url, clip, options: others = {}, idempotency_key: _, ...named }: Page, more: Record<string, unknown> = {}): object {
  const twice = Object.keys(named).find((name) => named[name as keyof typeof named] !== undefined && name in others)
  if (twice) throw new RestError(`VALIDATION_ERROR: ${twice} stands twice: leave it out of options`)
  const region = clip && { clip_x: clip.x, clip_y: clip.y, clip_width: clip.width, clip_height: clip.height }
  return { ...(url === undefined ? {} : { url }), options: { ...others, ...named, ...region, ...more } }
}

/** Creates a screenshot, and waits for it. */
const create = (input: Page, { rest }: ToolContext, more?: Record<string, unknown>): Promise<AnyRecord> =>
  rest.call<AnyRecord>('POST', '/screenshots', {
    query: { wait: WAIT_SECONDS },
    body: toBody(input, more),
    idempotencyKey: input.idempotency_key,
  })

const PICTURES: readonly (ArtifactType | 'picture')[] = ['picture', 'thumbnail']
const NO_PICTURE = 'No picture fits into max_bytes: open picture.link, capture with selector or clip, or raise max_bytes.'

/** The first of these files that a result can carry as a picture. */
async function findPicture(
  id: string,
  types: typeof PICTURES,
  limit: number,
  { request, deps }: ToolContext,
): Promise<Content | undefined> {
  for (const type of types) {
    const part = await openPart(request.accountName, id, type, deps)
    if (part && fits(part, limit)) return toImage(await part.read(0, part.sizeBytes), part.contentType)
  }
  return undefined
}

/** A slice of the record's preview. @throws RestError if there is none of this number */
async function findSlice(record: AnyRecord, slice: number, limit: number, { request, deps }: ToolContext): Promise<Content | undefined> {
  const place = previewOf(record)?.slices[slice - 1]
  if (!place) throw new RestError(`NOT_FOUND: the capture has no slice ${slice}`)
  const part = await openPart(request.accountName, record.id, 'preview', deps)
  return part && place.length <= pictureBudget(limit) ? toImage(await part.read(place.offset, place.length), part.contentType) : undefined
}

/** The result for a record: a slice of its preview, or another picture of it that fits. */
async function withPicture(record: AnyRecord, slice: number, limit: number, context: ToolContext): Promise<ToolResult> {
  if (record.status !== 'completed') return describe(summarize(record))
  const isSliced = previewOf(record) !== undefined || slice > 1
  const image = await (isSliced ? findSlice(record, slice, limit, context) : findPicture(record.id, PICTURES, limit, context))
  return describe(summarize(record, image ? viewOf(record, slice) : null), image ?? { type: 'text', text: NO_PICTURE })
}

/** Formats of which a preview can be made. */
const PICTURE_FORMATS: readonly unknown[] = [undefined, 'png', 'jpeg', 'webp', 'avif']
/** The least that preview_max_bytes can be. */
const MIN_PREVIEW_BYTES = 65_536

/** Options that store a preview whose slices fit into a result. */
const previewFor = ({ preview, format }: Record<string, unknown> = {}, limit: number): Record<string, unknown> => {
  if (preview !== undefined || !PICTURE_FORMATS.includes(format)) return {}
  const bytes = Math.min(previewDefaults.previewMaxBytes, Math.max(MIN_PREVIEW_BYTES, pictureBudget(limit)))
  return { preview: 'slices', preview_max_bytes: bytes }
}

const capture = tool({
  name: 'capture',
  title: 'Capture a page',
  description: 'Takes a picture of a web page in a browser and returns it with facts about the page. Costs one unit of quota.',
  input: z.object({ ...page, max_bytes: maxBytes }),
  output: RecordSummary,
  isReadOnly: false,
  run: async ({ max_bytes: limit, ...input }, context) =>
    withPicture(await create(input, context, previewFor(input.options, limit)), 1, limit, context),
})

const get = tool({
  name: 'get',
  title: 'Get a capture',
  description: 'Returns an earlier capture with its picture or a slice of it, and waits for one that is pending. Costs nothing.',
  input: z.object({ id, slice: z.int().min(1).max(MAX_PREVIEW_SLICES).default(1).describe('Slice of a tall page.'), max_bytes: maxBytes }),
  output: RecordSummary,
  isReadOnly: true,
  run: async ({ id, slice, max_bytes: limit }, context) => withPicture(await find(id, context), slice, limit, context),
})

const find = (id: string, { rest }: ToolContext): Promise<AnyRecord> =>
  rest.call<AnyRecord>('GET', `/screenshots/${encodeURIComponent(id)}`, { query: { wait: WAIT_SECONDS } })

/** The parts of a page that read returns: the file, and the option that stores it. */
const PARTS = {
  markdown: { type: 'markdown', option: 'save_markdown' },
  links: { type: 'links', option: 'save_links' },
  text: { type: 'text', option: 'save_text' },
  console: { type: 'console', option: 'save_console' },
  requests: { type: 'har', option: 'save_har' },
  accessibility_tree: { type: 'accessibility_tree', option: 'save_accessibility_tree' },
  html: { type: 'html', option: 'save_html' },
} as const satisfies Record<string, { type: ArtifactType; option: string }>
type PartName = keyof typeof PARTS

const read = tool({
  name: 'read',
  title: 'Read a page',
  description:
    'Returns what a page says instead of how it looks: its article as Markdown, links, visible text, console messages, requests, accessibility tree or HTML. With a URL it captures the page, which costs one unit of quota; with the id of a capture it costs nothing.',
  input: z.object({
    ...page,
    id: id.describe('Id of a capture that has the file, instead of url, html and markdown.').optional(),
    part: z.enum(Object.keys(PARTS) as [PartName, ...PartName[]]).default('markdown'),
    cursor: z
      .string()
      .regex(/^\d{1,10}$/)
      .describe('next_cursor of the last call, to read on. Needs id.')
      .optional(),
    max_bytes: maxBytes.default(32_000),
  }),
  output: RecordSummary.extend({
    part: z.string(),
    bytes: z.number().describe('Size of the whole part in bytes.'),
    next_cursor: z.string().nullable().describe('Cursor of the rest. Null at the end.'),
  }),
  isReadOnly: false,
  run: async ({ id, part, cursor = '0', max_bytes: limit, ...input }, context) => {
    const { type, option } = PARTS[part]
    const record = id === undefined ? await create(input, context, { [option]: true }) : await find(id, context)
    const summary = summarize(record)
    if (record.status !== 'completed') return describe({ ...summary, part, bytes: 0, next_cursor: null })
    const file = await openPart(context.request.accountName, record.id, type, context.deps)
    if (!file) throw new RestError(`NOT_FOUND: the capture has no ${part}. Call read with its url, which captures the page again.`)
    // Structured content and text both have the summary.
    const { text, next } = await readTextPart(file, Number(cursor), limit - MIN_RESULT_BYTES + 2_000)
    const structured = { ...summary, part, bytes: file.sizeBytes, next_cursor: next === undefined ? null : String(next) }
    return describe(structured, { type: 'text', text: markUntrusted(`The ${part.replaceAll('_', ' ')}`, text) })
  },
})

/** What a record shows of private and large options. */
const isHidden = (value: unknown): boolean => typeof value === 'string' && (value === MASK || value.endsWith(CUT))

/** Options of a comparison's earlier capture that make the new one comparable. */
const optionsOf = ({ options: shown = {} }: AnyRecord): Record<string, unknown> =>
  Object.fromEntries(Object.entries(shown).filter(([name, value]) => name !== 'compare_to' && !isHidden(value)))

const Comparison = RecordSummary.extend({
  to: z.string().describe('Id of the earlier capture.'),
  changed: z.boolean().nullable().describe('Whether the page changed. Null: not compared, next says why.'),
  changed_ratio: z.number().nullable().describe('Share of changed pixels, 0 to 1.'),
  regions: z
    .array(z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() }))
    .describe('The largest changes, in device pixels.'),
  words_added: z.array(z.string()).describe('New words of the page: untrusted text.'),
  words_removed: z.array(z.string()).describe('Words that are gone: untrusted text.'),
})
const MAX_REGIONS = 10

const compare = tool({
  name: 'compare',
  title: 'Compare with an earlier capture',
  description:
    'Captures a page again and says what changed since an earlier capture, with a picture of the differences. Costs one unit of quota.',
  input: z.object({
    to: id.describe('Id of the earlier capture.'),
    url: page.url.unwrap().describe('URL to capture now; default: that of the earlier capture.').optional(),
    options: options.optional(),
    idempotency_key: idempotencyKey.optional(),
    max_bytes: maxBytes,
  }),
  output: Comparison,
  isReadOnly: false,
  run: async ({ to, url, options: others = {}, idempotency_key, max_bytes: limit }, context) => {
    const earlier = await find(to, context)
    const input = { url: url ?? earlier.url, options: { ...optionsOf(earlier), ...others }, ...(idempotency_key && { idempotency_key }) }
    const record = await create(input, context, { ...previewFor(input.options, limit), compare_to: to })
    const { comparison } = record
    const summary = summarize(record)
    const structured = {
      ...summary,
      next: comparison?.skipped ? `Not compared, because the picture shows a page of this kind: ${comparison.skipped}.` : summary.next,
      to,
      changed: comparison && comparison.skipped === null ? comparison.changed : null,
      changed_ratio: comparison?.changed_ratio ?? null,
      regions: (comparison?.regions ?? []).slice(0, MAX_REGIONS),
      words_added: comparison?.words_added ?? [],
      words_removed: comparison?.words_removed ?? [],
    }
    if (!comparison?.changed) return describe(structured)
    const difference = await findPicture(record.id, ['diff'], limit, context)
    return describe(structured, difference ?? { type: 'text', text: NO_PICTURE })
  },
})

interface List {
  data: AnyRecord[]
  pagination: { next_cursor: string | null }
}

const list = tool({
  name: 'list',
  title: 'List captures',
  description: 'Lists captures of the account, the newest first, without pictures. Costs nothing.',
  input: z.object({
    limit: z.int().min(1).max(50).default(10).describe('Captures per page.'),
    cursor: z.string().max(100).describe('next_cursor of the last call.').optional(),
    status: z.enum(['pending', 'completed', 'failed']).optional(),
  }),
  output: z.object({
    captures: z.array(
      z.object({
        id: z.string(),
        status: z.string(),
        url: z.string(),
        created_at: z.string(),
        title: z.string().nullable(),
        error: z.string().nullable(),
      }),
    ),
    next_cursor: z.string().nullable(),
  }),
  isReadOnly: true,
  run: async ({ limit, cursor, status }, { rest }) => {
    const query = { limit: String(limit), ...(cursor && { cursor }), ...(status && { status }) }
    const { data, pagination } = await rest.call<List>('GET', '/screenshots', { query })
    const captures = data.map((record) => {
      const { id, status, url, page: facts, error } = summarize(record)
      return {
        id,
        status,
        url: url.slice(0, 200),
        created_at: record.created_at ?? '',
        title: facts?.title ?? null,
        error: error?.code ?? null,
      }
    })
    return describe({ captures, next_cursor: pagination.next_cursor })
  },
})

export const tools: readonly Tool[] = [capture, read, compare, get, list]

/** Names of files in the URI of a resource. */
export const FILE_NAMES = ['picture', ...ARTIFACT_TYPES] as const
const isFileName = (name: string): name is (typeof FILE_NAMES)[number] => (FILE_NAMES as readonly string[]).includes(name)

type ResourceContents = { uri: string; mimeType: string; text: string } | { uri: string; mimeType: string; blob: string }

/** The record of a capture as a resource. */
export const readRecord = async (uri: string, id: string, context: ToolContext): Promise<ResourceContents> => ({
  uri,
  mimeType: 'application/json',
  text: JSON.stringify(await find(id, context)),
})

/** A file of a capture as a resource. @throws RestError also for a file that is too large for a message */
export async function readFile(uri: string, id: string, name: string, context: ToolContext): Promise<ResourceContents> {
  await find(id, context)
  const part = isFileName(name) ? await openPart(context.request.accountName, id, name, context.deps) : undefined
  if (!part) throw new RestError(`NOT_FOUND: the capture has no file ${name.slice(0, 40)}`)
  if (part.sizeBytes > MAX_RESULT_BYTES) throw new RestError(`NOT_ACCEPTABLE: the file has ${part.sizeBytes} bytes: open its link instead`)
  const bytes = await part.read(0, part.sizeBytes)
  const mimeType = part.contentType
  return /^text\/|json/.test(mimeType) ? { uri, mimeType, text: bytes.toString() } : { uri, mimeType, blob: bytes.toString('base64') }
}
