import type { CaptureOptions } from './catalogue.ts'
import { FileFormat } from './output/image.ts'
import { ThumbnailFormat } from './output/image-processing.ts'

// Files beside the picture. Which there are and what they are called follows from the options alone: the operator gives an address for each
// before anybody knows the page, and no name is ever read from what a runner wrote.

/** What a file beside the picture is. */
export const ARTIFACT_TYPES = ['thumbnail', 'html', 'text', 'mhtml', 'har', 'console', 'accessibility_tree'] as const
export type ArtifactType = (typeof ARTIFACT_TYPES)[number]

/** One file beside the picture. */
export interface Artifact {
  type: ArtifactType
  /** What follows the id's dot in its key. */
  extension: string
  contentType: string
}

/** Options that ask for a file, in camel case, with what it is called. */
const SAVED = [
  { option: 'saveHtml', type: 'html', extension: 'html', contentType: 'text/html; charset=utf-8' },
  { option: 'saveText', type: 'text', extension: 'txt', contentType: 'text/plain; charset=utf-8' },
  { option: 'saveMhtml', type: 'mhtml', extension: 'mhtml', contentType: 'multipart/related' },
  { option: 'saveHar', type: 'har', extension: 'har', contentType: 'application/json' },
  { option: 'saveConsole', type: 'console', extension: 'console.json', contentType: 'application/json' },
  { option: 'saveAccessibilityTree', type: 'accessibility_tree', extension: 'accessibility.json', contentType: 'application/json' },
] as const satisfies readonly (Artifact & { option: keyof CaptureOptions })[]

/** MIME types by the last part of an extension, of files that are no pictures. */
export const ARTIFACT_CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ...SAVED.map(({ extension, contentType }): [string, string] => [extension.split('.').at(-1) ?? '', contentType]),
])

/** Every extension that a stored file can have: what follows the id's dot in its key. */
export const FILE_EXTENSIONS: readonly string[] = [
  ...FileFormat.options,
  ...ThumbnailFormat.options.map((format) => `thumb.${format}`),
  ...SAVED.map(({ extension }) => extension),
]

/** Format of the small copy; undefined when there is none. */
export function thumbnailFormat(options: CaptureOptions): ThumbnailFormat | undefined {
  const { format = 'png', thumbnailWidth, thumbnailHeight, thumbnailFormat: chosen } = options
  if (format === 'pdf' || (thumbnailWidth === undefined && thumbnailHeight === undefined)) return undefined
  return chosen ?? (format === 'avif' ? 'webp' : format)
}

/** The files beside the picture that the options ask for. */
export function artifactsOf(options: CaptureOptions | undefined = {}): Artifact[] {
  const format = thumbnailFormat(options)
  const thumbnail: Artifact[] = format ? [{ type: 'thumbnail', extension: `thumb.${format}`, contentType: `image/${format}` }] : []
  const saved = SAVED.filter(({ option }) => options[option]).map(({ type, extension, contentType }) => ({ type, extension, contentType }))
  return [...thumbnail, ...saved]
}
