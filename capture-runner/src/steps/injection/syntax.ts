import { cutText } from '@tintype/crds/text/cut-text'
import type { Tab } from '../../browser/tab.ts'
import { callInPage } from '../../page/call.ts'
import type { SelectorFault } from '../../page/functions.ts'
import type { OptionText, ScriptText, SyntaxPlan } from '../../plan/syntax.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { Step, Work } from '../step.ts'

// Checks whether the browser can parse the values of options. The browser checks them itself, on its empty page, because no other parser behaves
// exactly the same. No script of the client runs here.

interface SyntaxTab {
  tab: Pick<Tab, 'session' | 'evaluate' | 'mainFrame'>
  signal: AbortSignal
}

const SHOWN_LENGTH = 200
const MESSAGE_LENGTH = 300

/** Shortens a value for messages. */
export const shorten = (text: string): string => (text.length <= SHOWN_LENGTH ? text : `${cutText(text, SHOWN_LENGTH)}…`)

/** The first line of an error. */
export const firstLine = (text: string, length = MESSAGE_LENGTH): string => cutText(text.split('\n')[0] ?? '', length)

const FAULTS: Readonly<Record<SelectorFault, string>> = {
  invalid: 'is not a CSS selector',
  open: 'does not end: close its brackets, quotes and comments',
}

/** @throws CaptureError INVALID_SELECTOR for the first invalid selector */
async function assertSelectors(page: SyntaxTab, selectors: SyntaxPlan['selectors']): Promise<void> {
  if (selectors.length === 0) return
  const found = await callInPage(page, 'findSelectorFault', selectors)
  const wrong = found && selectors[found.index]
  if (found && wrong) throw new CaptureError('INVALID_SELECTOR', `${wrong.option} ${FAULTS[found.fault]}: ${shorten(wrong.text)}`)
}

/** @throws CaptureError INVALID_SCRIPT for a syntax error */
export async function assertScript({ tab: { session, mainFrame }, signal }: SyntaxTab, { option, text, kind }: ScriptText): Promise<void> {
  // Each script gets its own isolated world, so that declarations do not collide.
  const worldName = `tintype-syntax-${option}`
  const { executionContextId: contextId } = await awaitResponse(
    session.send('Page.createIsolatedWorld', { frameId: mainFrame, worldName }),
    signal,
  )
  const evaluation = { expression: toUnrun(text, kind), contextId, replMode: kind === 'console' }
  const { exceptionDetails } = await awaitResponse(session.send('Runtime.evaluate', evaluation), signal)
  const { className, description = '' } = exceptionDetails?.exception ?? {}
  if (className === 'SyntaxError') throw new CaptureError('INVALID_SCRIPT', `${option} is not JavaScript: ${firstLine(description)}`)
}

/** Puts a throw statement before the script: the engine parses all of it but runs none. */
function toUnrun(text: string, kind: ScriptText['kind']): string {
  if (kind === 'expression') return `throw 0;\n(${text}\n)`
  const isStrict = /^\s*(["'])use strict\1/.test(text)
  return `${isStrict ? '"use strict";' : ''}throw 0;\n${text.replace(/^#!/, '//')}`
}

/** True if the browser supports no rule of a sheet, apart from comments and imports. */
export const hasNoRule = (page: SyntaxTab, sheet: string): Promise<boolean> => callInPage(page, 'hasNoRule', sheet)

/** Transparency of a color, 0 to 1; undefined for an invalid color. */
const transparencyOf = async (page: SyntaxTab, color: string): Promise<number | undefined> =>
  (await callInPage(page, 'readTransparency', color)) ?? undefined

/** Names of the emulated media features that the browser does not support. */
export const findUnknownFeatures = (page: SyntaxTab, features: Readonly<Record<string, string>>): Promise<string[]> =>
  callInPage(page, 'findUnknownFeatures', Object.entries(features))

/** @throws CaptureError INVALID_OPTIONS for a template that would load a resource, because that crashes Chromium's printing */
async function assertTemplate(page: SyntaxTab, { option, text }: OptionText): Promise<void> {
  const found = await callInPage(page, 'findLoader', text)
  if (found === null) return
  const message = `${option} may load only images from data: URLs; remove ${found}`
  throw new CaptureError('INVALID_OPTIONS', message)
}

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
