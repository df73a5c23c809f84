import type { CaptureOptions } from './catalog.ts'
import { FileFormat, ImageFormat, isMoving, ThumbnailFormat } from './output/formats.ts'
import { PreviewFormat, previewDefaults } from './output/preview.ts'

// Files beside the picture. The options alone determine the files and their names. The operator presigns an upload URL for each file
// before the capture, and never reads a name from what a runner wrote.

/** Types of files beside the picture. */
export const ARTIFACT_TYPES = [
  ...(['thumbnail', 'preview', 'html', 'text', 'markdown', 'links', 'mhtml', 'har', 'console'] as const),
  ...(['accessibility_tree', 'poster', 'diff'] as const),
] as const
export type ArtifactType = (typeof ARTIFACT_TYPES)[number]

/** One file beside the picture. */
export interface Artifact {
  type: ArtifactType
  /** The part of its key after the id and a dot. */
  extension: string
  contentType: string
}

/** Options that request a file, in camel case, with its type, extension and MIME type. */
const SAVED = [
  { option: 'saveHtml', type: 'html', extension: 'html', contentType: 'text/html; charset=utf-8' },
  { option: 'saveText', type: 'text', extension: 'txt', contentType: 'text/plain; charset=utf-8' },
  { option: 'saveMarkdown', type: 'markdown', extension: 'md', contentType: 'text/markdown; charset=utf-8' },
  { option: 'saveLinks', type: 'links', extension: 'links.json', contentType: 'application/json' },
  { option: 'saveMhtml', type: 'mhtml', extension: 'mhtml', contentType: 'multipart/related' },
  { option: 'saveHar', type: 'har', extension: 'har', contentType: 'application/json' },
  { option: 'saveConsole', type: 'console', extension: 'console.json', contentType: 'application/json' },
  { option: 'saveAccessibilityTree', type: 'accessibility_tree', extension: 'accessibility.json', contentType: 'application/json' },
  { option: 'videoPoster', type: 'poster', extension: 'poster.jpeg', contentType: 'image/jpeg' },
  { option: 'compareTo', type: 'diff', extension: 'diff.png', contentType: 'image/png' },
  { option: 'compareTo', type: 'text', extension: 'txt', contentType: 'text/plain; charset=utf-8' },
] as const satisfies readonly (Artifact & { option: keyof CaptureOptions })[]

/** MIME types of files beside the picture, by the last part of the extension. */
export const ARTIFACT_CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ...SAVED.map(({ extension, contentType }): [string, string] => [extension.split('.').at(-1) ?? '', contentType]),
])

/** Every extension that a stored file can have. */
export const FILE_EXTENSIONS: readonly string[] = [
  ...FileFormat.options,
  ...ThumbnailFormat.options.map((format) => `thumb.${format}`),
  ...PreviewFormat.options.map((format) => `preview.${format}`),
  ...SAVED.map(({ extension }) => extension),
]

/** Format of the thumbnail; undefined if none is requested. */
export function thumbnailFormat(options: CaptureOptions): ThumbnailFormat | undefined {
  const { format = 'png', thumbnailWidth, thumbnailHeight, thumbnailFormat: chosen } = options
  if (format === 'pdf' || isMoving(format) || (thumbnailWidth === undefined && thumbnailHeight === undefined)) return undefined
  return chosen ?? (format === 'avif' ? 'webp' : format)
}

/** Format of the preview; undefined if none is requested, or if the file is no picture. */
export function previewFormat({ format = 'png', preview, previewFormat: chosen }: CaptureOptions): PreviewFormat | undefined {
  const isPicture = ImageFormat.safeParse(format).success
  return preview !== undefined && isPicture ? (chosen ?? previewDefaults.previewFormat) : undefined
}

const toPicture = (type: ArtifactType, name: string, format: string | undefined): Artifact[] =>
  format === undefined ? [] : [{ type, extension: `${name}.${format}`, contentType: `image/${format}` }]

/** The files beside the picture that the options request. */
export function artifactsOf(options: CaptureOptions | undefined = {}): Artifact[] {
  const pictures = [
    ...toPicture('thumbnail', 'thumb', thumbnailFormat(options)),
    ...toPicture('preview', 'preview', previewFormat(options)),
  ]
  const saved = SAVED.filter(({ option }) => options[option]).map(({ type, extension, contentType }) => ({ type, extension, contentType }))
  return [...pictures, ...saved].filter(({ type }, index, all) => all.findIndex((other) => other.type === type) === index)
}
