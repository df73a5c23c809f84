import type { Tab } from '../../browser/tab.ts'
import type { OptionText, ScriptText, SyntaxPlan } from '../../plan/syntax.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { awaitResponse } from '../../runtime/race.ts'

// Checks whether the browser can parse the values of options. The browser checks them itself, on its empty page, because no other parser behaves
// exactly the same. No script of the client runs here.

interface SyntaxTab {
  tab: Pick<Tab, 'session' | 'evaluate' | 'mainFrame'>
  signal: AbortSignal
}

const SHOWN_LENGTH = 200
const MESSAGE_LENGTH = 300

/** Shortens a value for messages. */
export const shorten = (text: string): string => (text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}…`)

/** The first line of an error. */
export const firstLine = (text: string, length = MESSAGE_LENGTH): string => (text.split('\n')[0] ?? '').slice(0, length)

type Fault = 'invalid' | 'open'

const FAULTS: Readonly<Record<Fault, string>> = {
  invalid: 'is not a CSS selector',
  open: 'does not end: close its brackets, quotes and comments',
}

/** @throws CaptureError INVALID_SELECTOR for the first invalid selector */
export async function assertSelectors({ tab, signal }: SyntaxTab, selectors: SyntaxPlan['selectors']): Promise<void> {
  if (selectors.length === 0) return
  const found = await tab.evaluate<{ index: number; fault: Fault } | null>(`(${findFault})(${JSON.stringify(selectors)})`, signal)
  const wrong = found && selectors[found.index]
  if (found && wrong) throw new CaptureError('INVALID_SELECTOR', `${wrong.option} ${FAULTS[found.fault]}: ${shorten(wrong.text)}`)
}

/** Runs in the page. An unclosed rule swallows the rules after it, which the added rule detects. */
const findFault = `(selectors) => {
  const empty = document.createDocumentFragment()
  for (const [index, { text, isRule }] of selectors.entries()) {
    try { empty.querySelector(text) } catch { return { index, fault: 'invalid' } }
    if (!isRule) continue
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(text + ' {}\\n.last {}')
    if (sheet.cssRules.length < 2) return { index, fault: 'open' }
  }
  return null
}`

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
export const hasNoRule = ({ tab, signal }: SyntaxTab, sheet: string): Promise<boolean> =>
  tab.evaluate<boolean>(`(${HAS_NO_RULE})(${JSON.stringify(sheet)})`, signal)

const HAS_NO_RULE = `(text) => {
  const plain = text.replace(/\\/\\*[^]*?(\\*\\/|$)/g, '').replace(/@(import|charset|namespace|layer)[^;]*(;|$)/gi, '').trim()
  if (plain === '' || /<!--|-->/.test(plain)) return false
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(plain)
  return sheet.cssRules.length === 0
}`

/** Transparency of a color, 0 to 1; undefined for an invalid color. */
export const transparencyOf = async ({ tab, signal }: SyntaxTab, color: string): Promise<number | undefined> =>
  (await tab.evaluate<number | null>(`(${TRANSPARENCY})(${JSON.stringify(color)})`, signal)) ?? undefined

/** CSS-wide keywords such as `inherit` are no colors, because their value depends on the page. */
const TRANSPARENCY = `(color) => {
  if (!CSS.supports('color', color) || /^(inherit|initial|unset|revert|revert-layer)$/i.test(color)) return null
  const element = document.createElement('i')
  element.style.backgroundColor = color
  document.documentElement.append(element)
  const computed = getComputedStyle(element).backgroundColor
  element.remove()
  const [, alpha = '1', percent] = /^rgba\\(.*, *([\\d.e-]+)\\)$|\\/ *([\\d.e-]+)(%?)\\)$/.exec(computed)?.filter((part) => part !== undefined) ?? []
  return 1 - Number(alpha) / (percent === '%' ? 100 : 1)
}`

/** Names of the emulated media features that the browser does not support. */
export const findUnknownFeatures = ({ tab, signal }: SyntaxTab, features: Readonly<Record<string, string>>): Promise<string[]> =>
  tab.evaluate<string[]>(
    `${JSON.stringify(Object.entries(features))}.filter(([name, value]) => !matchMedia('(' + name + ': ' + value + ')').matches).map(([name]) => name)`,
    signal,
  )

/** @throws CaptureError INVALID_OPTIONS for a template that would load a resource, because that crashes Chromium's printing */
export async function assertTemplate({ tab, signal }: SyntaxTab, { option, text }: OptionText): Promise<void> {
  const found = await tab.evaluate<string | null>(`(${FIND_LOADER})(${JSON.stringify(text)})`, signal)
  if (found === null) return
  const message = `${option} may load only images from data: URLs; remove ${found}`
  throw new CaptureError('INVALID_OPTIONS', message)
}

/** Runs in the page. Also rejects frames, which are not printed. A document without a window loads nothing. */
const FIND_LOADER = `(html) => {
  const { body } = document.implementation.createHTMLDocument('')
  body.innerHTML = html
  const isForeign = (address) => !/^\\s*(data:|#|$)/i.test(address)
  const frame = body.querySelector('iframe, frame, object, embed, fencedframe, portal')
  if (frame) return '<' + frame.localName + '>'
  if ([...body.querySelectorAll('link[href]')].some((link) => isForeign(link.getAttribute('href')))) return '<link>'
  for (const style of body.querySelectorAll('style')) {
    const css = style.textContent.replace(/\\/\\*[^]*?(\\*\\/|$)/g, '')
    const imported = [...css.matchAll(/@import\\s*(?:url\\(\\s*)?["']?([^"')\\s;]*)/gi)].some(([, address]) => isForeign(address))
    if (imported) return '@import'
    const faces = [...css.matchAll(/@font-face\\s*\\{[^}]*\\}/gi)].flatMap(([face]) => [...face.matchAll(/url\\(\\s*["']?([^"')\\s]*)/gi)])
    if (faces.some(([, address]) => isForeign(address))) return 'the font of @font-face'
  }
  return null
}`
