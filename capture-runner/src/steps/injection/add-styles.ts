import { awaitResponse } from '../../runtime/race.ts'
import type { Work } from '../step.ts'

/** Adds CSS to the page through DevTools, because a strict Content-Security-Policy would block a style element. */
export async function addStyles({ tab: { session, mainFrame }, signal }: Pick<Work, 'tab' | 'signal'>, text: string): Promise<void> {
  if (text === '') return
  await awaitResponse(Promise.all([session.send('DOM.enable'), session.send('CSS.enable')]), signal)
  const { styleSheetId } = await awaitResponse(session.send('CSS.createStyleSheet', { frameId: mainFrame, force: true }), signal)
  await awaitResponse(session.send('CSS.setStyleSheetText', { styleSheetId, text }), signal)
}

/** A hiding rule for each selector. */
export const hidingRules = (selectors: readonly string[]): string =>
  selectors.map((selector) => `${selector} { display: none !important }`).join('\n')
