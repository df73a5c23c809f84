import { CaptureError } from '../../runtime/errors.ts'
import type { Step, Work } from '../step.ts'
import { assertScript, assertSelectors, assertTemplate, findUnknownFeatures, hasNoRule, shorten, transparencyOf } from './syntax.ts'

/** Lets the browser parse selectors, scripts, colors and templates before the page loads, so that an invalid one fails the capture early. */
export const checkSyntax: Step = {
  name: 'checkSyntax',
  isWanted: (plan) => plan.syntax !== undefined,
  run: async (work) => {
    const { syntax } = work.plan
    if (!syntax) return
    const { warnings } = work.findings
    await assertSelectors(work, syntax.selectors)
    for (const script of syntax.scripts) await assertScript(work, script)
    for (const template of syntax.templates) await assertTemplate(work, template)
    if (syntax.maskColor !== undefined) await checkMaskColor(work, syntax.maskColor)
    if (syntax.styles !== undefined && (await hasNoRule(work, syntax.styles))) {
      warnings.push(`styles contains no rule that the browser supports: ${shorten(syntax.styles)}`)
    }
    if (Object.keys(syntax.mediaFeatures).length === 0) return
    for (const name of await findUnknownFeatures(work, syntax.mediaFeatures)) {
      warnings.push(`media_features.${name} had no effect: the browser cannot emulate it, or not with this value`)
    }
  },
}

/** Rejects transparent mask colors. */
async function checkMaskColor(work: Work, color: string): Promise<void> {
  const transparency = await transparencyOf(work, color)
  if (transparency === undefined) throw new CaptureError('INVALID_OPTIONS', `mask_color is not a color: ${color}`)
  if (transparency === 1) throw new CaptureError('INVALID_OPTIONS', `mask_color is transparent and would hide nothing: ${color}`)
  if (transparency > 0) work.findings.warnings.push(`mask_color is translucent, so covered content stays visible: ${color}`)
}
