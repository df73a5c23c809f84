import { group, off, on, SEPARATE } from '../rules/declare.ts'

const always = (what: string) => on(`Records ${what}. Always on.`)
const note = (what: string) => off(`Records ${what} in the record’s metadata.`)

/** Facts about the page that the record can include. */
export const metadataGroup = group('Metadata in the record', SEPARATE, {
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
})
