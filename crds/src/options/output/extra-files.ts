import { flag, group, off, on, SEPARATE } from '../rules/declare.ts'

const toText = (what: string) => `Stores ${what} beside the capture.`
const file = (what: string) => off(toText(what))
const laterFile = (what: string) => flag({ default: false, isLater: true })(toText(what))

/** Files to store beside the capture. The record lists them in `artifacts`. */
export const extraFilesGroup = group('Additional files', SEPARATE, {
  saveHtml: file('the page’s final HTML, with the values of visible fields and without passwords,'),
  saveText: file('the page’s visible text, with that of fields, buttons and style sheets and without passwords,'),
  saveMarkdown: laterFile('the page’s article as Markdown, or the whole page if it has no article,'),
  saveLinks: laterFile('the page’s links as JSON, with their URLs, texts and whether they stay within the site,'),
  saveMhtml: file('the page with its images and styles as one MHTML file, which can contain what mask_selectors hides,'),
  saveHar: file('the page’s requests as a HAR file, without cookies, credentials or bodies, which can contain what mask_selectors hides,'),
  saveConsole: file('console messages and uncaught errors, which can contain what mask_selectors hides, as JSON'),
  saveAccessibilityTree: file('the accessibility tree as JSON'),
})

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
