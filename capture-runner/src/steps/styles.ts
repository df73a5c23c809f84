import { addStyles, hidingRules } from './add-styles.ts'
import type { Step, Work } from './step.ts'

/** Puts the client's CSS into the page, after that of the addresses that it named, and leaves out the elements that it does not want. */
export const styles: Step = {
  name: 'styles',
  isWanted: (plan) => plan.styles !== undefined || plan.styleUrls !== undefined || plan.hidden !== undefined,
  run: async (work) => {
    const { styleUrls = [], hidden, styles: text = '' } = work.plan
    const loaded = styleUrls.map((url) => findSheet(work, url))
    const sheets = [...loaded, text, ...(hidden ? [hidingRules(await findValid(work, hidden.selectors))] : [])]
    for (const sheet of sheets) await addStyles(work, sheet)
    if (hidden?.inShadow) await hideInShadow(work, hidden.selectors)
  },
}

/** Open shadow roots have style sheets of their own. */
const hideInShadow = ({ tab, signal }: Work, selectors: readonly string[]) =>
  tab.look(
    `(() => {
  const selectors = ${JSON.stringify(selectors)}
  const hideIn = (root) => {
    for (const selector of selectors) {
      try { for (const element of root.querySelectorAll(selector)) element.style.setProperty('display', 'none', 'important') } catch {}
    }
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) hideIn(element.shadowRoot)
  }
  hideIn(document)
})()`,
    signal,
  )

/** The selectors that are selectors; the others become a warning. */
export async function findValid({ tab, findings, signal }: Work, selectors: readonly string[]): Promise<string[]> {
  const invalid = await tab.look<string[]>(
    `${JSON.stringify(selectors)}.filter((selector) => { try { document.querySelector(selector); return false } catch { return true } })`,
    signal,
  )
  for (const selector of invalid) findings.warnings.push(`not a CSS selector: ${selector}`)
  return selectors.filter((selector) => !invalid.includes(selector))
}

function findSheet({ texts, findings }: Work, url: string): string {
  const text = texts?.get(url)
  if (text !== undefined) return toAbsolute(text, url)
  findings.warnings.push(`a style sheet could not be loaded: ${url}`)
  return ''
}

/** Addresses in a sheet are meant relative to it, not to the page that it is put into. */
export const toAbsolute = (sheet: string, base: string): string =>
  sheet.replace(/url\(\s*(['"]?)([^'")]+)\1\s*\)/g, (whole, quote: string, address: string) =>
    /^(data:|#)/.test(address) || !URL.canParse(address, base) ? whole : `url(${quote}${new URL(address, base).href}${quote})`,
  )
