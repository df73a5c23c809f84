import MarkdownIt from 'markdown-it'
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

/** Raw HTML in Markdown is shown as text. */
const markdown = new MarkdownIt({ html: false, linkify: true, typographer: false })

/** Returns the markup as an HTML document. */
export function toHtml(markup: CapturePlan['markup']): string {
  if (markup === undefined) return ''
  if (markup.kind === 'html') return markup.text
  return `<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${titleOf(markup.text)}</title><style>${PAPER}</style></head><body>${markdown.render(markup.text)}</body></html>`
}

/** The first heading, as text. */
function titleOf(text: string): string {
  const [, heading = ''] = /^#{1,6} +(.+?)#* *$/m.exec(text) ?? []
  return heading.replaceAll('&', '&amp;').replaceAll('<', '&lt;').trim()
}

const PAPER = `
  body { margin: 0 auto; max-width: 760px; padding: 48px 32px; background: #fff; color: #1f2328; font: 16px/1.6 system-ui, 'Liberation Sans', sans-serif; }
  body > :first-child { margin-top: 0; }
  h1, h2 { border-bottom: 1px solid #d1d9e0; padding-bottom: .3em; }
  h1, h2, h3, h4, h5, h6 { line-height: 1.25; margin: 1.5em 0 .7em; }
  a { color: #0969da; }
  pre, code { font-family: ui-monospace, 'Liberation Mono', monospace; font-size: .9em; background: #f6f8fa; border-radius: 6px; }
  code { padding: .15em .35em; }
  pre { padding: 16px; overflow: auto; }
  pre code { padding: 0; background: none; }
  blockquote { margin: 0; padding: 0 1em; color: #59636e; border-left: .25em solid #d1d9e0; }
  table { border-collapse: collapse; }
  th, td { border: 1px solid #d1d9e0; padding: 6px 13px; }
  img { max-width: 100%; }
  hr { border: 0; border-top: 4px solid #d1d9e0; }
`
