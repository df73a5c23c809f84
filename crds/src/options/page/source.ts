import { z } from 'zod'
import { webAddress } from './texts.ts'

/** Address of a Screenshot whose page is in the request itself and that names no base address. */
export const MARKUP_ADDRESS = 'about:html'

/** Where the page comes from, when it is not only its address that counts. */
export const sourceOptions = {
  html: z
    .string()
    .min(1)
    .max(2_097_152)
    .describe(
      'The page itself as HTML, in place of url; 1 to 2097152 characters. What it names is fetched, the page is not. Default: none.',
    ),
  markdown: z
    .string()
    .min(1)
    .max(1_048_576)
    .describe(
      'The page itself as Markdown, in place of url; 1 to 1048576 characters. It is set on white paper; HTML within it is shown as text. Default: none.',
    ),
  htmlBaseUrl: webAddress('Address that html or markdown pretends to be at: relative links start from it, http or https. Default: none.'),
  referer: webAddress('Address that the page’s request names as the one it comes from, http or https. Default: none.'),
  offline: z.boolean().describe('Refuses every request of html or markdown: only what it holds itself is shown. Default: false.'),
}

export const sourceDefaults = { offline: false }
