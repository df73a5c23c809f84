import { z } from 'zod'
import { ARTIFACT_TYPES } from '../options/artifacts.ts'

const ADDRESS_LENGTH = 2048
const addresses = (most: number, what: string) => z.array(z.string().max(ADDRESS_LENGTH)).max(most).describe(what).optional()
const texts = (most: number, length: number, what: string) =>
  z.record(z.string().max(128), z.string().max(length)).meta({ maxProperties: most }).describe(what).optional()

/** What was noted of the page because options ask for it; each is absent unless asked for. */
export const PageNotes = z.object({
  redirects: addresses(20, 'Addresses that led to the final one, in order.'),
  responseHeaders: texts(64, 2048, 'Headers that the page was answered with, without cookies.'),
  imageSize: z.boolean().describe('The size of the picture was asked for: it is in width and height.').optional(),
  openGraph: texts(32, 1024, 'Open Graph and Twitter tags and the description, by name.'),
  icon: z.string().max(ADDRESS_LENGTH).describe('Address of the page’s best icon.').optional(),
  fonts: z.array(z.string().max(128)).max(32).describe('Font families that the page is drawn with.').optional(),
  timings: z
    .record(z.string().max(64), z.int().min(0))
    .meta({ maxProperties: 16 })
    .describe('Milliseconds from the navigation to steps of the page’s own loading.')
    .optional(),
  contentHash: z
    .object({
      sha256: z.string().max(64).describe('SHA-256 of the file, in hex.'),
      perceptual: z
        .string()
        .max(16)
        .describe('Difference hash of the picture, 64 bits in hex: alike pictures differ in few bits.')
        .optional(),
    })
    .describe('Hashes of the file.')
    .optional(),
  palette: z.array(z.string().max(7)).max(8).describe('Main colors of the picture, most frequent first.').optional(),
  blockedRequests: z.int().min(0).describe('Requests of the page that were blocked.').optional(),
  links: addresses(100, 'Addresses that the page links to, in order.'),
})
export type PageNotes = z.infer<typeof PageNotes>

/** A file beside the picture that a runner has stored. */
export const StoredArtifact = z.object({
  type: z.enum(ARTIFACT_TYPES).describe('What it is.'),
  fileSizeBytes: z.int().min(0).describe('Its size in bytes.'),
  etag: z.string().max(128).describe('Its entity tag in the store; only a file that matches is served.'),
})
export type StoredArtifact = z.infer<typeof StoredArtifact>
