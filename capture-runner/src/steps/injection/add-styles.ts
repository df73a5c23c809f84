import { callInPage } from '../../page/call.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { Work } from '../step.ts'

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
