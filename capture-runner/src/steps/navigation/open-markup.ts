import MarkdownIt, { type Token } from 'markdown-it'
import type { CapturePlan } from '../../plan/plan.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { Step, Work } from '../step.ts'

/**
 * Serves the client's markup as the response to the page's own request, once. The markup then is an ordinary page with a URL, a load event and a
 * base for its links. No server is contacted for it.
 */
export const openMarkup: Step = {
  name: 'openMarkup',
  isWanted: (plan) => plan.markup !== undefined,
  run: async (work) => {
    const { tab, plan, signal } = work
    const body = Buffer.from(toHtml(plan.markup)).toString('base64')
    tab.session.on('Fetch.requestPaused', ({ requestId, frameId }) => {
      if (frameId !== tab.mainFrame) return void tab.session.send('Fetch.continueRequest', { requestId }).catch(() => {})
      void answer(work, requestId, body).catch(() => {})
    })
    await awaitResponse(tab.session.send('Fetch.enable', { patterns: [{ urlPattern: '*', resourceType: 'Document' }] }), signal)
  },
}

async function answer({ tab }: Work, requestId: string, body: string): Promise<void> {
  const responseHeaders = [
    { name: 'content-type', value: 'text/html; charset=utf-8' },
    // The URL does not exist, so resources that the markup names must not receive it as a referrer.
    { name: 'referrer-policy', value: 'no-referrer' },
  ]
  await tab.session.send('Fetch.fulfillRequest', { requestId, responseCode: 200, responseHeaders, body })
  await tab.session.send('Fetch.disable')
}

/** Returns the markup as an HTML document. */
export function toHtml(markup: CapturePlan['markup']): string {
  if (markup === undefined) return ''
  return markup.kind === 'html' ? markup.text : renderMarkdown(markup.text)
}

// Markdown as GitHub shows it, as far as readers rely on it: ids of headings for links within the document, and task lists. Raw HTML is shown as text.

const markdown = new MarkdownIt({ html: false, linkify: true, typographer: false })
markdown.core.ruler.push('heading_ids', ({ tokens }) => addHeadingIds(tokens))
markdown.core.ruler.push('task_lists', ({ tokens }) => addCheckboxes(tokens))
markdown.renderer.rules.checkbox = (tokens, index) => `<input type="checkbox" disabled${tokens[index]?.info}>`

/** Returns Markdown as an HTML document. Its title is the text of the first heading. */
function renderMarkdown(text: string): string {
  const tokens = markdown.parse(text, {})
  const title = markdown.utils.escapeHtml(findTitle(tokens))
  const body = markdown.renderer.render(tokens, markdown.options)
  return `<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${PAPER}</style></head><body>${body}</body></html>`
}

/** Headings in quotes and lists are not the document's own. */
function findTitle(tokens: readonly Token[]): string {
  const texts = tokens.map((token, index) => (isHeading(token) && token.level === 0 ? textOf(tokens[index + 1]?.children).trim() : ''))
  return texts.find((text) => text !== '') ?? ''
}

const isHeading = ({ type }: Token): boolean => type === 'heading_open'

/** What a reader sees, with the texts of images. */
const textOf = (children: Token[] | null | undefined): string =>
  markdown.renderer.renderInlineAsText(children ?? [], markdown.options, {}).replaceAll('\n', ' ')

const NOT_IN_ID = /[^\p{Alphabetic}\p{Mark}\p{Decimal_Number}\p{Connector_Punctuation}\- ]/gu

/** The same text again gets a number. */
function addHeadingIds(tokens: readonly Token[]): void {
  const uses = new Map<string, number>()
  for (const [index, token] of tokens.entries()) {
    if (!isHeading(token)) continue
    const base = textOf(tokens[index + 1]?.children?.filter(({ type }) => type !== 'image'))
      .toLowerCase()
      .replace(NOT_IN_ID, '')
      .replaceAll(' ', '-')
    let id = base
    while (uses.has(id)) {
      const number = (uses.get(base) ?? 0) + 1
      uses.set(base, number)
      id = `${base}-${number}`
    }
    uses.set(id, 0)
    if (id !== '') token.attrSet('id', id)
  }
}

const TASK = /^\[([ xX])\](?=\s)/

/** A task is an item of a list whose first paragraph begins with `[ ]` or `[x]`. */
function addCheckboxes(tokens: readonly Token[]): void {
  for (const [index, { type, content, children }] of tokens.entries()) {
    const [item, paragraph] = [tokens[index - 2], tokens[index - 1]]
    if (type !== 'inline' || paragraph?.type !== 'paragraph_open' || item?.type !== 'list_item_open') continue
    const [, state] = TASK.exec(content) ?? []
    const first = children?.[0]
    // Escaped brackets differ in the source, brackets of a link in the tokens.
    if (state === undefined || first?.type !== 'text' || !first.content.startsWith(`[${state}]`)) continue
    first.content = first.content.slice(3)
    const checkbox = new MarkdownIt.Token('checkbox', 'input', 0)
    checkbox.info = state === ' ' ? '' : ' checked'
    children?.unshift(checkbox)
    item.attrJoin('class', 'task')
  }
}

/** Lines of code are broken, because nobody can scroll in a file. */
const PAPER = `
  body { margin: 0 auto; max-width: 760px; padding: 48px 32px; background: #fff; color: #1f2328; font: 16px/1.6 system-ui, 'Liberation Sans', sans-serif; overflow-wrap: break-word; }
  body > :first-child { margin-top: 0; }
  h1, h2 { border-bottom: 1px solid #d1d9e0; padding-bottom: .3em; }
  h1, h2, h3, h4, h5, h6 { line-height: 1.25; margin: 1.5em 0 .7em; }
  a { color: #0969da; }
  pre, code { font-family: ui-monospace, 'Liberation Mono', monospace; font-size: .9em; background: #f6f8fa; border-radius: 6px; }
  code { padding: .15em .35em; }
  pre { padding: 16px; white-space: pre-wrap; overflow-wrap: anywhere; }
  pre code { padding: 0; background: none; }
  blockquote { margin: 0; padding: 0 1em; color: #59636e; border-left: .25em solid #d1d9e0; }
  table { border-collapse: collapse; }
  th, td { border: 1px solid #d1d9e0; padding: 6px 13px; }
  img { max-width: 100%; }
  hr { border: 0; border-top: 4px solid #d1d9e0; }
  .task { list-style: none; }
  .task > input, .task > p > input { margin: 0 .3em 0 -1.4em; vertical-align: middle; }
`
