import { z } from 'zod'
import { ARTIFACT_TYPES } from '../options/artifacts.ts'

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

/** A file that a runner stored beside the picture. */
export const StoredArtifact = z.object({
  type: z.enum(ARTIFACT_TYPES).describe('Type of the file.'),
  fileSizeBytes: z.int().min(0).describe('Size of the file in bytes.'),
  etag: z.string().max(128).describe('ETag of the file in the store. The gateway serves only a file with this ETag.'),
})
export type StoredArtifact = z.infer<typeof StoredArtifact>
