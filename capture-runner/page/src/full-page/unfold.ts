import type { PageFunctions } from '../../../src/page/functions.ts'
import { isHtml, queryAll, read, setStyle, write } from '../shared/dom.ts'
import { allElements, containerOf, findFirstVisible, findMatches, findRoots } from '../shared/tree.ts'
import { loadEagerly } from './lazy.ts'
import { scrollsDown } from './panel.ts'

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
  for (const element of queryAll(document, 'body *')) {
    if (isHtml(element) && Math.abs(read(element, 'offsetHeight') - innerHeight) < 1) {
      setStyle(element, { height: `${innerHeight}px`, 'min-height': '0', 'max-height': `${innerHeight}px` })
    }
  }
}

function findPanel(container: string): HTMLElement | undefined {
  if (container !== 'auto') return (findFirstVisible(container) ?? findMatches(container)[0]) as HTMLElement | undefined
  const area = (element: Element) => read(element, 'clientWidth') * read(element, 'clientHeight')
  // The document in a frame does not grow with its frame.
  const panels = allElements(findRoots(false)).filter((element) => isHtml(element) && !isPage(element) && scrollsDown(element))
  return panels.sort((a, b) => area(b) - area(a))[0] as HTMLElement | undefined
}

const isPage = (element: Element): boolean => element === document.documentElement || element === document.body

/** Removes the constraints on the panel: heights, clipped overflow, fixed ancestors. */
function expand(panel: HTMLElement): void {
  write(panel, 'scrollTop', 0)
  const whole = read(panel, 'scrollHeight') + read(panel, 'offsetHeight') - read(panel, 'clientHeight')
  const size = { width: `${read(panel, 'offsetWidth')}px`, height: `${whole}px` }
  setStyle(panel, { ...size, 'box-sizing': 'border-box', 'max-height': 'none', overflow: 'visible', flex: 'none' })
  for (let outer = containerOf(panel); outer; outer = containerOf(outer)) {
    const { position } = getComputedStyle(outer)
    setStyle(outer, { height: 'auto', 'max-height': 'none', overflow: 'visible' })
    if (position === 'fixed') setStyle(outer, { position: 'absolute', bottom: 'auto' })
    if (position === 'absolute') setStyle(outer, { bottom: 'auto' })
  }
}
