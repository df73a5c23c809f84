import { callInPage } from '../../page/call.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { Step, Work } from '../step.ts'
import { includeClosedRoots } from '../whole-page.ts'
import { hasNoRule } from './syntax.ts'

/** Adds the client's style sheets and then its CSS to the page, and hides the elements that it does not want. */
export const styles: Step = {
  name: 'styles',
  onFailure: 'repeat',
  isForDocument: true,
  isWanted: ({ options }) => (options.styles ?? options.styleUrls ?? options.hideSelectors) !== undefined,
  run: async (work) => {
    const { styleUrls = [], hideSelectors = [], styles: text = '', includeShadowDom } = work.plan.options
    const loaded = await Promise.all(styleUrls.map((url) => findSheet(work, url)))
    for (const sheet of [...loaded, text, hidingRules(hideSelectors)]) await addStyles(work, sheet)
    if (hideSelectors.length === 0 || !includeShadowDom) return
    // Sheets of the document do not apply in shadow roots and frames, so elements there are hidden one by one.
    await includeClosedRoots(work)
    await callInPage(work, 'hideInShadow', hideSelectors)
  },
}

async function findSheet(work: Work, url: string): Promise<string> {
  const { texts, findings } = work
  const text = texts?.get(url)
  if (text === undefined) findings.warnings.push(`a style sheet could not be loaded: ${url}`)
  else if (await hasNoRule(work, text)) findings.warnings.push(`a style sheet contains no rule that the browser supports: ${url}`)
  return text === undefined ? '' : toAbsolute(text, url)
}

/** Resolves the URLs in a sheet against the sheet's own URL, not that of the page. */
export const toAbsolute = (sheet: string, base: string): string =>
  sheet.replace(/url\(\s*(['"]?)([^'")]+)\1\s*\)/g, (whole, quote: string, address: string) =>
    /^(data:|#)/.test(address) || !URL.canParse(address, base) ? whole : `url(${quote}${new URL(address, base).href}${quote})`,
  )

/** Adds CSS to the page through DevTools, because a strict Content-Security-Policy would block a style element. */
export async function addStyles({ tab, signal }: Pick<Work, 'tab' | 'signal'>, sheet: string): Promise<void> {
  // A byte order mark would become a part of the first selector.
  const text = sheet.replace(/^\uFEFF/, '')
  if (text === '') return
  const { session, mainFrame } = tab
  await awaitResponse(Promise.all([session.send('DOM.enable'), session.send('CSS.enable')]), signal)
  const styleSheetId = await createSheet({ session, mainFrame }, signal)
  // DevTools has no style sheets for documents of other vocabularies than HTML. A sheet that a script adds cannot import others.
  if (styleSheetId === undefined) return callInPage({ tab, signal }, 'addSheet', text)
  await awaitResponse(session.send('CSS.setStyleSheetText', { styleSheetId, text }), signal)
}

async function createSheet(
  { session, mainFrame }: Pick<Work['tab'], 'session' | 'mainFrame'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { styleSheetId } = await awaitResponse(session.send('CSS.createStyleSheet', { frameId: mainFrame, force: true }), signal)
    return styleSheetId
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof CaptureError) throw error
    return undefined
  }
}

/** A hiding rule for each selector. */
export const hidingRules = (selectors: readonly string[]): string =>
  selectors.map((selector) => `${selector} { display: none !important }`).join('\n')
