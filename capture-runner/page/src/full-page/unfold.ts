import type { PageFunctions } from '../../../src/page/functions.ts'
import { setStyle } from '../shared/style.ts'
import { loadEagerly } from './lazy.ts'

export const unfold: PageFunctions['unfold'] = ({ container, pins, eager }) => {
  if (eager) loadEagerly()
  if (pins) pinWindowHeights()
  if (container === undefined) return 'skipped'
  const panel = findPanel(container)
  if (!panel) return 'absent'
  expand(panel)
  return 'found'
}

function pinWindowHeights(): void {
  for (const element of document.body?.querySelectorAll('*') ?? []) {
    if (element instanceof HTMLElement && Math.abs(element.offsetHeight - innerHeight) < 1) {
      setStyle(element, { height: `${innerHeight}px`, 'min-height': '0', 'max-height': `${innerHeight}px` })
    }
  }
}

function findPanel(container: string): HTMLElement | null | undefined {
  if (container !== 'auto') return document.querySelector<HTMLElement>(container)
  const scrolls = (element: Element) =>
    element.scrollHeight > element.clientHeight + 1 && /auto|scroll|overlay/.test(getComputedStyle(element).overflowY)
  const area = (element: Element) => element.clientWidth * element.clientHeight
  return [...document.querySelectorAll<HTMLElement>('body *')].filter(scrolls).sort((a, b) => area(b) - area(a))[0]
}

/** Removes the constraints on the panel: heights, clipped overflow, fixed ancestors. */
function expand(panel: HTMLElement): void {
  panel.scrollTop = 0
  const whole = panel.scrollHeight + panel.offsetHeight - panel.clientHeight
  const width = `${panel.offsetWidth}px`
  setStyle(panel, { 'box-sizing': 'border-box', width, height: `${whole}px`, 'max-height': 'none', overflow: 'visible', flex: 'none' })
  for (let outer = panel.parentElement; outer; outer = outer.parentElement) {
    const { position } = getComputedStyle(outer)
    setStyle(outer, { height: 'auto', 'max-height': 'none', overflow: 'visible' })
    if (position === 'fixed') setStyle(outer, { position: 'absolute', bottom: 'auto' })
    if (position === 'absolute') setStyle(outer, { bottom: 'auto' })
  }
}
