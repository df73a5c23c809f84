import { answered } from '../race.ts'
import type { Step } from './step.ts'

/** Puts the client's CSS into the page by DevTools: a style element would be refused by a strict Content-Security-Policy. */
export const styles: Step = {
  name: 'styles',
  isWanted: (plan) => plan.styles !== undefined,
  run: async ({ tab: { session, mainFrame }, plan, signal }) => {
    await answered(Promise.all([session.send('DOM.enable'), session.send('CSS.enable')]), signal)
    const { styleSheetId } = await answered(session.send('CSS.createStyleSheet', { frameId: mainFrame, force: true }), signal)
    await answered(session.send('CSS.setStyleSheetText', { styleSheetId, text: plan.styles ?? '' }), signal)
  },
}
