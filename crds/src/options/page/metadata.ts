import { z } from 'zod'
import { option } from '../rules/option-rules.ts'

const recorded = (text: string) => option({ links: 'yes', picture: 'separate' }, z.boolean().describe(text))
const always = (what: string) => recorded(`Records ${what}. Always on. Default: true.`)
const note = (what: string) => recorded(`Records ${what} in the record’s metadata. Default: false.`)

/** Facts about the page that the record can include. */
export const metadataOptions = {
  metadataPageTitle: always('the page’s title'),
  metadataFinalUrl: note('the redirects that led to final_url'),
  metadataHttpResponseStatusCode: always('the HTTP status of the page'),
  metadataHttpResponseHeaders: note('the response headers of the page, except cookies,'),
  metadataImageSize: note('width and height of the picture'),
  metadataOpenGraph: note('Open Graph and Twitter tags and the description'),
  metadataIcon: note('the URL of the page’s best icon'),
  metadataFonts: note('the font families that the page uses'),
  metadataTimings: note('the duration of each step and of the page load, in milliseconds,'),
  metadataContentHash: note('the file’s SHA-256 and a perceptual hash of the picture'),
  metadataPalette: note('the picture’s main colors'),
  metadataLinks: note('the first 100 URLs that the page links to'),
  metadataBlockedRequests: note('the number of blocked requests'),
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
