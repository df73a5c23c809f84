import { z } from 'zod'
import { option, pictureOption } from '../rules/option-rules.ts'
import { httpUrl } from './texts.ts'

/** URL of a Screenshot whose page is in the options and has no base URL. */
export const MARKUP_URL = 'about:html'

/** Source of the page, if not its URL alone. */
export const sourceOptions = {
  html: option(
    { links: 'own_markup', picture: 'yes' },
    z
      .string()
      .min(1)
      .max(2_097_152)
      .describe(
        'The page as HTML, instead of url, 1 to 2097152 characters. The browser still loads its resources from the network. Default: none.',
      ),
  ),
  markdown: option(
    { links: 'own_markup', picture: 'yes' },
    z
      .string()
      .min(1)
      .max(1_048_576)
      .describe(
        'The page as Markdown, instead of url, 1 to 1048576 characters. It is rendered on a white background, with tables, task lists, and headings whose ids are those of GitHub. HTML in it is shown as text. Default: none.',
      ),
  ),
  htmlBaseUrl: pictureOption(httpUrl('Base URL of html or markdown for relative links, http or https. Default: none.')),
  referer: pictureOption(httpUrl('URL in the header Referer of the page’s request, http or https. Default: none.')),
  offline: pictureOption(
    z.boolean().describe('Blocks every request of html or markdown, so that only inline content is shown. Default: false.'),
  ),
}

export const sourceDefaults = { offline: false }
