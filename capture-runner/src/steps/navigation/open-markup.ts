import type { CapturePlan } from '../../plan/plan.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { Step, Work } from '../step.ts'
import { renderMarkdown } from './render-markdown.ts'

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
