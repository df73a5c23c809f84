import { toRegion, withinWindow } from '../../picture/region.ts'
import type { ElementPlan, PageSize, Tile } from '../../plan/region.ts'
import type { Step, Work } from '../step.ts'
import { measure } from './measure.ts'

/** The visible matches of a selector in document order, as a JavaScript expression. */
const visible = (selector: string): string => `[...document.querySelectorAll(${JSON.stringify(selector)})]
  .filter((element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility === 'visible')`

/** Height limit of the window, in CSS pixels. */
const MAX_WINDOW_HEIGHT = 16_384

/** Determines the region of the page to capture, and prepares the page for it. */
export const frame: Step = {
  name: 'frame',
  isWanted: ({ picture }) =>
    picture.element !== undefined ||
    picture.clip !== undefined ||
    (picture.fullPage && (picture.fixedElements === 'hide' || !picture.beyondWindow)),
  run: async (work) => {
    const { plan, findings, tab, signal } = work
    const { clip, element, fullPage, fixedElements, beyondWindow } = plan.picture
    if (fullPage && !beyondWindow) await growWindow(work)
    if (fullPage && fixedElements === 'hide') await tab.evaluate(HIDE_FIXED, signal)
    const region = clip ?? (element && (await regionOf(work, element)))
    if (!region || !findings.size) return
    findings.region = beyondWindow ? checked(work, region, findings.size) : cutToWindow(work, region, findings.size)
    if (findings.region && element?.isolate) await tab.evaluate(isolate(element), signal)
  },
}

async function growWindow(work: Work): Promise<void> {
  const { tab, plan, findings } = work
  const { width, height } = plan.context.viewport
  const wanted = Math.min(Math.ceil(findings.size?.contentHeight ?? height), plan.picture.maxHeight)
  if (wanted > MAX_WINDOW_HEIGHT) findings.warnings.push(`the window is limited to ${MAX_WINDOW_HEIGHT} pixels; the page needs ${wanted}`)
  await tab.resize({ width, height: Math.max(height, Math.min(wanted, MAX_WINDOW_HEIGHT)) })
  await measure.run(work)
}

async function regionOf({ tab, findings, signal }: Work, element: ElementPlan): Promise<Tile | undefined> {
  const boxes = await tab.evaluate<Tile[]>(boxesOf(element), signal)
  const seen = boxes.filter(({ width, height }) => width > 0 && height > 0)
  return seen.length > 0 && findings.size ? toRegion(seen, element.padding, findings.size) : undefined
}

function checked({ findings }: Work, region: Tile, { contentWidth, contentHeight }: PageSize): Tile {
  if (region.x >= contentWidth || region.y >= contentHeight) findings.warnings.push('the region is outside the page')
  return region
}

function cutToWindow({ plan, findings }: Work, region: Tile, size: PageSize): Tile | undefined {
  const part = withinWindow(region, plan.context.viewport, size)
  if (!part) findings.warnings.push('captured the whole window: the region is outside of it')
  return part
}

/** Boxes of the matches in CSS pixels of the page. */
const boxesOf = ({ selector, all }: ElementPlan): string => `${visible(selector)}${all ? '' : '.slice(0, 1)'}.map((element) => {
  const { x, y, width, height } = element.getBoundingClientRect()
  return { x: x + scrollX, y: y + scrollY, width, height }
})`

/** Makes everything transparent that neither contains the element nor belongs to it. Uses opacity, because no descendant can undo it. */
const isolate = ({ selector, all }: ElementPlan): string => `(() => {
  const wanted = ${visible(selector)}${all ? '' : '.slice(0, 1)'}
  const isKept = (element) => wanted.some((one) => one.contains(element) || element.contains(one))
  for (const one of wanted) {
    for (let holder = one; holder && holder !== document.documentElement; holder = holder.parentElement) {
      for (const sibling of holder.parentElement?.children ?? []) {
        if (!isKept(sibling)) sibling.style?.setProperty('opacity', '0', 'important')
      }
    }
  }
})()`

const HIDE_FIXED = `(() => {
  for (const element of document.body?.querySelectorAll('*') ?? []) {
    if (/fixed|sticky/.test(getComputedStyle(element).position)) element.style?.setProperty('visibility', 'hidden', 'important')
  }
})()`
