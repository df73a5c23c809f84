import type { Step } from '../step.ts'

/** Before a full-page screenshot: expands an inner scrolling panel to its full height, and pins elements that are as tall as the window. */
export const unfold: Step = {
  name: 'unfold',
  isWanted: ({ picture }) =>
    picture.scrollContainer !== undefined ||
    picture.pinWindowHeights ||
    (picture.eagerImages && !picture.sweep && picture.scroll === undefined),
  run: async ({ tab, plan, findings, signal }) => {
    const { scrollContainer, pinWindowHeights, eagerImages } = plan.picture
    const parts = { container: scrollContainer, pins: pinWindowHeights, eager: eagerImages }
    const found = await tab.evaluate<'found' | 'absent' | 'skipped'>(`(${unfoldIn})(${JSON.stringify(parts)})`, signal)
    if (found === 'absent') findings.warnings.push('full_page_scroll_container matched no scrollable element')
  },
}

/** Runs in the page. Removes the constraints on the panel: heights, clipped overflow, fixed ancestors. */
const unfoldIn = `({ container, pins, eager }) => {
  if (eager) for (const lazy of document.querySelectorAll('img[loading=lazy], iframe[loading=lazy]')) lazy.loading = 'eager'
  const set = (element, style) => { for (const [name, value] of Object.entries(style)) element.style.setProperty(name, value, 'important') }
  if (pins) {
    for (const element of document.body?.querySelectorAll('*') ?? []) {
      if (element instanceof HTMLElement && Math.abs(element.offsetHeight - innerHeight) < 1) {
        set(element, { height: innerHeight + 'px', 'min-height': '0', 'max-height': innerHeight + 'px' })
      }
    }
  }
  if (container === undefined) return 'skipped'
  const scrolls = (element) =>
    element.scrollHeight > element.clientHeight + 1 && /auto|scroll|overlay/.test(getComputedStyle(element).overflowY)
  const area = (element) => element.clientWidth * element.clientHeight
  const panel = container === 'auto'
    ? [...document.querySelectorAll('body *')].filter(scrolls).sort((a, b) => area(b) - area(a))[0]
    : document.querySelector(container)
  if (!panel) return 'absent'
  panel.scrollTop = 0
  const whole = panel.scrollHeight + panel.offsetHeight - panel.clientHeight
  const width = panel.offsetWidth + 'px'
  set(panel, { 'box-sizing': 'border-box', width, height: whole + 'px', 'max-height': 'none', overflow: 'visible', flex: 'none' })
  for (let outer = panel.parentElement; outer; outer = outer.parentElement) {
    const { position } = getComputedStyle(outer)
    set(outer, { height: 'auto', 'max-height': 'none', overflow: 'visible' })
    if (position === 'fixed') set(outer, { position: 'absolute', bottom: 'auto' })
    if (position === 'absolute') set(outer, { bottom: 'auto' })
  }
  return 'found'
}`
