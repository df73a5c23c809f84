import { z } from 'zod'
import { declare, type Facts, group, off, PICTURE } from '../rules/declare.ts'
import { httpUrl } from './texts.ts'

/** URL of a Screenshot whose page is in the options and has no base URL. */
export const MARKUP_URL = 'about:html'

const markup = (most: number, own: Facts<string>) =>
  declare(z.string().min(1).max(most), { links: 'own_markup', isLarge: true, ...own }, `1 to ${most} characters`)

/** Source of the page, if not its URL alone. */
export const sourceGroup = group('Source of the page', PICTURE, {
  html: markup(2_097_152, { example: '<h1>Invoice 1042</h1>' })(
    'The page as HTML, instead of url. The browser still loads its resources from the network.',
  ),
  markdown: markup(1_048_576, { example: '# Invoice 1042' })(
    'The page as Markdown, instead of url. It is rendered on a white background, with tables, task lists, and headings whose ids are those of GitHub. HTML in it is shown as text.',
  ),
  htmlBaseUrl: httpUrl({ example: 'https://example.com/invoices/' })('Base URL of html or markdown for relative links, http or https.'),
  referer: httpUrl({ example: 'https://www.google.com/' })('URL in the header Referer of the page’s request, http or https.'),
  offline: off('Blocks every request of html or markdown, so that only inline content is shown.'),
})
