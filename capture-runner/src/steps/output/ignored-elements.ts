import type { Tile } from '../../plan/region.ts'
import { BOXES } from '../injection/mask.ts'
import { shorten } from '../injection/syntax.ts'
import type { Step } from '../step.ts'

/** Records where the elements of `compare_ignore` are, directly before the screenshot. They stay visible in the picture. */
export const ignoredElements: Step = {
  name: 'ignoredElements',
  isWanted: ({ comparison, pages }) => comparison.ignoredSelectors.length > 0 && pages === undefined,
  run: async ({ tab, plan, findings, signal }) => {
    const { ignoredSelectors } = plan.comparison
    const found = await tab.evaluate<Tile[][]>(`(${FIND})(${JSON.stringify(ignoredSelectors)})`, signal)
    findings.ignoredElements = ignoredSelectors.map((selector, index) => ({ selector, areas: found[index] ?? [] }))
    for (const { selector, areas } of findings.ignoredElements) {
      if (areas.length === 0) findings.warnings.push(`compare_ignore matched no visible element: ${shorten(selector)}`)
    }
  },
}

/** Boxes in CSS pixels of the page. */
const FIND = `(selectors) => {
  const boxesOf = ${BOXES}
  return selectors.map((selector) => [...document.querySelectorAll(selector)].flatMap(boxesOf)
    .filter(({ width, height }) => width > 0 && height > 0)
    .map(({ x, y, width, height }) => ({ x: x + scrollX, y: y + scrollY, width, height })))
}`
