import { z } from 'zod'

const always = (what: string) => z.boolean().describe(`Records ${what}, which is recorded always. Default: true.`)
const note = (what: string) => z.boolean().describe(`Records ${what} in the record’s metadata. Default: false.`)

/** What is noted of the page. */
export const metadataOptions = {
  metadataPageTitle: always('the page’s title'),
  metadataFinalUrl: note('the addresses that led to final_url'),
  metadataHttpResponseStatusCode: always('the status that the page was answered with'),
  metadataHttpResponseHeaders: note('the headers that the page was answered with, without cookies,'),
  metadataImageSize: note('width and height of the picture'),
  metadataOpenGraph: note('Open Graph and Twitter tags and the description'),
  metadataIcon: note('the address of the page’s best icon'),
  metadataFonts: note('the font families that the page is drawn with'),
  metadataTimings: note('milliseconds of each step and of the page’s own loading'),
  metadataContentHash: note('the file’s SHA-256 and a perceptual hash of the picture'),
  metadataPalette: note('the picture’s main colors'),
  metadataLinks: note('the first 100 addresses that the page links to'),
  metadataBlockedRequests: note('how many requests were blocked'),
}

export const metadataDefaults = {
  metadataPageTitle: true,
  metadataFinalUrl: false,
  metadataHttpResponseStatusCode: true,
  metadataHttpResponseHeaders: false,
  metadataImageSize: false,
  metadataOpenGraph: false,
  metadataIcon: false,
  metadataFonts: false,
  metadataTimings: false,
  metadataContentHash: false,
  metadataPalette: false,
  metadataLinks: false,
  metadataBlockedRequests: false,
} as const
