import { answered } from '../../runtime/race.ts'
import type { Work } from '../step.ts'

/** Puts CSS into the page by DevTools: a style element would be refused by a strict Content-Security-Policy. */
export async function addStyles({ tab: { session, mainFrame }, signal }: Pick<Work, 'tab' | 'signal'>, text: string): Promise<void> {
  if (text === '') return
  await answered(Promise.all([session.send('DOM.enable'), session.send('CSS.enable')]), signal)
  const { styleSheetId } = await answered(session.send('CSS.createStyleSheet', { frameId: mainFrame, force: true }), signal)
  await answered(session.send('CSS.setStyleSheetText', { styleSheetId, text }), signal)
}

/** A rule for each selector. */
export const hidingRules = (selectors: readonly string[]): string =>
  selectors.map((selector) => `${selector} { display: none !important }`).join('\n')
