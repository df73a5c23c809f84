import { z } from 'zod'
import { ARTIFACT_TYPES } from '../options/artifacts.ts'
import { MAX_PREVIEW_SLICES } from '../options/output/preview.ts'

const URL_LENGTH = 2048
const urls = (most: number, what: string) => z.array(z.string().max(URL_LENGTH)).max(most).describe(what).optional()
const texts = (most: number, length: number, what: string) =>
  z.record(z.string().max(128), z.string().max(length)).meta({ maxProperties: most }).describe(what).optional()

/** Facts about the page. Each field is absent unless an option requests it. */
export const PageNotes = z.object({
  redirects: urls(20, 'URLs that redirected to the final URL, in order.'),
  responseHeaders: texts(64, 2048, 'Response headers of the page, except cookies.'),
  imageSize: z.boolean().describe('True if an option requests the size of the picture, which is in width and height.').optional(),
  openGraph: texts(32, 1024, 'Open Graph and Twitter tags and the description, by name.'),
  icon: z.string().max(URL_LENGTH).describe('URL of the page’s best icon.').optional(),
  fonts: z.array(z.string().max(128)).max(32).describe('Font families that the page uses.').optional(),
  timings: z
    .record(z.string().max(64), z.int().min(0))
    .meta({ maxProperties: 16 })
    .describe('Milliseconds from the navigation to each step of the page load.')
    .optional(),
  contentHash: z
    .object({
      sha256: z.string().max(64).describe('SHA-256 of the file, in hex.'),
      perceptual: z
        .string()
        .max(16)
        .describe('Difference hash of the picture, 64 bits in hex. Similar pictures differ in few bits.')
        .optional(),
    })
    .describe('Hashes of the file.')
    .optional(),
  palette: z.array(z.string().max(7)).max(8).describe('Main colors of the picture, most frequent first.').optional(),
  blockedRequests: z.int().min(0).describe('Number of blocked requests of the page.').optional(),
  links: urls(100, 'URLs that the page links to, in order.'),
})
export type PageNotes = z.infer<typeof PageNotes>

const pixels = (what: string) => z.int().min(0).describe(`${what}, in pixels.`)
const cssPixels = (what: string) => z.int().min(0).describe(`${what}, in CSS pixels.`)

/** A picture in the file of a preview. */
export const PreviewSlice = z.object({
  offset: z.int().min(0).describe('First byte in the file.'),
  length: z.int().min(0).describe('Number of bytes.'),
  width: pixels('Width of the slice'),
  height: pixels('Height of the slice'),
  y: cssPixels('Top edge in the whole picture'),
})
export type PreviewSlice = z.infer<typeof PreviewSlice>

/** Where the slices of a preview are in its file, and what they show of the picture. */
export const PreviewPlaces = z.object({
  scale: z.number().min(0).max(1).describe('Pixels of a slice for each CSS pixel.'),
  width: cssPixels('Width of the whole picture'),
  height: cssPixels('Height of the whole picture'),
  shownWidth: cssPixels('Width that the slices show, from the left'),
  shownHeight: cssPixels('Height that the slices show, from the top'),
  sliceCount: z.int().min(1).describe('Number of slices of this size that show the whole height. The file can have fewer.'),
  slices: z.array(PreviewSlice).max(MAX_PREVIEW_SLICES).describe('The slices, from top to bottom. Neighbors overlap.'),
})
export type PreviewPlaces = z.infer<typeof PreviewPlaces>

/** A file that a runner stored beside the picture. */
export const StoredArtifact = z.object({
  type: z.enum(ARTIFACT_TYPES).describe('Type of the file.'),
  fileSizeBytes: z.int().min(0).describe('Size of the file in bytes.'),
  etag: z.string().max(128).describe('ETag of the file in the store. The gateway serves only a file with this ETag.'),
  preview: PreviewPlaces.describe('Slices in the file of a preview.').optional(),
})
export type StoredArtifact = z.infer<typeof StoredArtifact>
