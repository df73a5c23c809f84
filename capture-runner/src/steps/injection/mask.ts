import { CaptureError } from '../../runtime/errors.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { Step } from '../step.ts'
import { openWholePage } from '../whole-page.ts'
import { shorten } from './syntax.ts'

/**
 * Covers the client's masked elements. Runs as the last step before the screenshot, after all steps that move or hide elements. In a PDF the
 * elements are hidden instead, because text below a box could be copied.
 */
export const mask: Step = {
  name: 'mask',
  isWanted: (plan) => plan.options.maskSelectors !== undefined,
  onFailure: 'repeat',
  run: async (work) => {
    const { plan, findings } = work
    const { maskSelectors: selectors = [], maskColor: color } = plan.options
    const page = await openWholePage(work)
    const covered = plan.pages ? await page.call('leaveOutMatches', selectors) : await page.call('coverMatches', { selectors, color })
    for (const [index, selector] of selectors.entries()) {
      if (covered[index] !== 0) continue
      const message = `mask_selectors[${index}] matched no visible element: ${shorten(selector)}`
      if (page.unsearched > 0) throw new CaptureError('SELECTOR_NOT_FOUND', `${message}. ${describeRest(page.unsearched)}`)
      findings.warnings.push(message)
    }
    work.masks = {
      renew: async () => void (await page.call('coverMatches', { selectors, color })),
      redact: async () => void (await page.call('redactMatches', selectors)),
    }
  },
}

/** After the picture: removes what is masked from the page, for its files and notes. Scripts are switched off, because they could render it again. */
export const redact: Step = {
  name: 'redact',
  isWanted: (plan) => plan.options.maskSelectors !== undefined,
  run: async ({ tab, masks, signal }) => {
    await awaitResponse(tab.session.send('Emulation.setScriptExecutionDisabled', { value: true }), signal)
    await masks?.redact()
  },
}

const describeRest = (count: number): string =>
  `${count === 1 ? 'A frame or shadow root' : `${count} frames or shadow roots`} could not be searched, so private content might be visible`
