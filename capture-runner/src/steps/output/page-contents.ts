import { siteOf } from '../../browser/site.ts'
import { callInPage, callLargeInPage } from '../../page/call.ts'
import type { PageMarkdown } from '../../page/functions.ts'
import { bounded } from '../../runtime/race.ts'
import type { Work } from '../step.ts'
import { includeClosedRoots } from '../whole-page.ts'

// Files for readers that are programs: the page as Markdown, and its links. A page can make them take long, or be larger than anybody reads.

/** Time limit for one file. */
const FILE_MILLISECONDS = 16_000
/** The same for one reading of the page. The search for an article can take long on a page without one; what takes 8 s is stopped as a task of the page. */
const READING_MILLISECONDS = 7_000
const MAX_MARKDOWN_BYTES = 1_048_576

const LINK_LIMITS = { links: 2_000, url: 2_048, text: 200 }

/** Makes a file within its time. Without it the capture is still worth having, so a failure is a warning. */
async function within(work: Work, name: string, make: (work: Work) => Promise<string>): Promise<string | undefined> {
  using time = bounded(work.signal, FILE_MILLISECONDS, () => new Error(`${name} took too long`))
  try {
    return await make({ ...work, signal: time.signal })
  } catch {
    work.signal.throwIfAborted()
    work.findings.warnings.push(`${name} was left out: the page is too large or too busy to be read`)
    return undefined
  }
}

/** The article as Markdown, or all that the page shows; undefined if the page cannot be read in time. */
export const makeMarkdown = (given: Work): Promise<string | undefined> =>
  within(given, 'markdown', async (work) => {
    await includeClosedRoots(work)
    const read = (isArticleWanted: boolean): Promise<PageMarkdown> =>
      callLargeInPage({ ...work, timeout: READING_MILLISECONDS }, 'readMarkdown', isArticleWanted, MAX_MARKDOWN_BYTES)
    const { markdown, isCut } = await read(true).catch(() => {
      work.signal.throwIfAborted()
      return read(false)
    })
    const bytes = Buffer.from(markdown)
    const isLarge = bytes.length > MAX_MARKDOWN_BYTES
    if (isCut || isLarge) work.findings.warnings.push('markdown was cut: the page has more than 100,000 nodes or 1 MiB of Markdown')
    return isLarge ? toLines(bytes, MAX_MARKDOWN_BYTES) : markdown
  })

/** The beginning of a text, up to the end of a line if possible, without half of a character. */
function toLines(text: Buffer, maxBytes: number): string {
  const end = text.lastIndexOf(0x0a, maxBytes - 1) + 1
  return new TextDecoder('utf-8').decode(text.subarray(0, end || maxBytes), { stream: true })
}

/** The links as JSON; undefined if the page cannot be read in time. */
export const makeLinks = (given: Work): Promise<string | undefined> =>
  within(given, 'links', async (work) => {
    await includeClosedRoots(work)
    const { links, dropped } = await callInPage({ ...work, timeout: READING_MILLISECONDS }, 'readLinks', LINK_LIMITS)
    if (dropped > 0) work.findings.warnings.push(`links was cut: it lacks ${dropped} links of the page`)
    const site = siteOf(work.findings.finalUrl ?? '')
    const isInside = (url: string): boolean => site !== '' && /^https?:/.test(url) && siteOf(url) === site
    const found = links.map(({ url, text, rel, isVisible }) => ({ url, text, rel, same_site: isInside(url), visible: isVisible }))
    return JSON.stringify({ links: found, dropped }, null, 1)
  })
