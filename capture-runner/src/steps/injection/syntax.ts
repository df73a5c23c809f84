import type { Tab } from '../../browser/tab.ts'
import type { OptionText, ScriptText, SyntaxPlan } from '../../plan/syntax.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { answered } from '../../runtime/race.ts'

// Whether the browser can read what the options hold. It is asked itself, on its empty page: no other parser is exactly the browser's. Nothing of the
// client's runs here.

interface Asker {
  tab: Pick<Tab, 'session' | 'look' | 'mainFrame'>
  signal: AbortSignal
}

const SHOWN_LENGTH = 200
const MESSAGE_LENGTH = 300

/** A value as messages quote it. */
export const shorten = (text: string): string => (text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}…`)

/** The first line of what was thrown. */
export const firstLine = (text: string, length = MESSAGE_LENGTH): string => (text.split('\n')[0] ?? '').slice(0, length)

type Fault = 'invalid' | 'open'

const FAULTS: Readonly<Record<Fault, string>> = {
  invalid: 'is not a CSS selector',
  open: 'does not end: close its brackets, quotes and comments',
}

/** @throws CaptureError INVALID_SELECTOR for the first that is none */
export async function assertSelectors({ tab, signal }: Asker, selectors: SyntaxPlan['selectors']): Promise<void> {
  if (selectors.length === 0) return
  const found = await tab.look<{ index: number; fault: Fault } | null>(`(${findFault})(${JSON.stringify(selectors)})`, signal)
  const wrong = found && selectors[found.index]
  if (found && wrong) throw new CaptureError('INVALID_SELECTOR', `${wrong.option} ${FAULTS[found.fault]}: ${shorten(wrong.text)}`)
}

/** Runs in the page. A rule that does not end swallows those after it. */
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

/** @throws CaptureError INVALID_SCRIPT for what does not parse */
export async function assertScript({ tab: { session, mainFrame }, signal }: Asker, { option, text, kind }: ScriptText): Promise<void> {
  // In a world of its own: what one script declares would be in the way of the next.
  const worldName = `tintype-syntax-${option}`
  const { executionContextId: contextId } = await answered(
    session.send('Page.createIsolatedWorld', { frameId: mainFrame, worldName }),
    signal,
  )
  const evaluation = { expression: toUnrun(text, kind), contextId, replMode: kind === 'console' }
  const { exceptionDetails } = await answered(session.send('Runtime.evaluate', evaluation), signal)
  const { className, description = '' } = exceptionDetails?.exception ?? {}
  if (className === 'SyntaxError') throw new CaptureError('INVALID_SCRIPT', `${option} is not JavaScript: ${firstLine(description)}`)
}

/** The script behind a statement that ends it: the whole is parsed before any of it runs. */
function toUnrun(text: string, kind: ScriptText['kind']): string {
  if (kind === 'expression') return `throw 0;\n(${text}\n)`
  const isStrict = /^\s*(["'])use strict\1/.test(text)
  return `${isStrict ? '"use strict";' : ''}throw 0;\n${text.replace(/^#!/, '//')}`
}

/** True when the browser understands no rule of a sheet that is more than comments and imports. */
export const hasNoRule = ({ tab, signal }: Asker, sheet: string): Promise<boolean> =>
  tab.look<boolean>(`(${HAS_NO_RULE})(${JSON.stringify(sheet)})`, signal)

const HAS_NO_RULE = `(text) => {
  const plain = text.replace(/\\/\\*[^]*?(\\*\\/|$)/g, '').replace(/@(import|charset|namespace|layer)[^;]*(;|$)/gi, '').trim()
  if (plain === '' || /<!--|-->/.test(plain)) return false
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(plain)
  return sheet.cssRules.length === 0
}`

/** How much of what is below a color can be seen, 0 to 1; undefined when it is no color. */
export const transparencyOf = async ({ tab, signal }: Asker, color: string): Promise<number | undefined> =>
  (await tab.look<number | null>(`(${TRANSPARENCY})(${JSON.stringify(color)})`, signal)) ?? undefined

/** A keyword of all properties stands for whatever the page has. */
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

/** The features that the browser was told of and does not answer to, by name. */
export const findUnknownFeatures = ({ tab, signal }: Asker, features: Readonly<Record<string, string>>): Promise<string[]> =>
  tab.look<string[]>(
    `${JSON.stringify(Object.entries(features))}.filter(([name, value]) => !matchMedia('(' + name + ': ' + value + ')').matches).map(([name]) => name)`,
    signal,
  )

/** @throws CaptureError INVALID_OPTIONS for a template that would load something: the browser's printing ends with a crash */
export async function assertTemplate({ tab, signal }: Asker, { option, text }: OptionText): Promise<void> {
  const found = await tab.look<string | null>(`(${FIND_LOADER})(${JSON.stringify(text)})`, signal)
  if (found === null) return
  const message = `${option} must load nothing but images from data: addresses; leave ${found} out`
  throw new CaptureError('INVALID_OPTIONS', message)
}

/** Frames print nothing either. Runs in the page; a document without a window loads nothing. */
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
