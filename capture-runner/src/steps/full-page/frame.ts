import { callInPage } from '../../page/call.ts'
import { toRegion, withinWindow } from '../../picture/region.ts'
import type { ElementPlan, PageSize, Tile } from '../../plan/region.ts'
import type { Step, Work } from '../step.ts'
import { measure } from './measure.ts'

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
    const { plan, findings } = work
    const { clip, element, fullPage, fixedElements, beyondWindow } = plan.picture
    if (fullPage && !beyondWindow) await growWindow(work)
    if (fullPage && fixedElements === 'hide') await callInPage(work, 'hideFixed')
    const region = clip ?? (element && (await regionOf(work, element)))
    if (!region || !findings.size) return
    findings.region = beyondWindow ? checked(work, region, findings.size) : cutToWindow(work, region, findings.size)
    if (findings.region && element?.isolate) await callInPage(work, 'isolateElements', toQuery(element))
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

const toQuery = ({ selector, all }: ElementPlan) => ({ selector, all })

async function regionOf(work: Work, element: ElementPlan): Promise<Tile | undefined> {
  const { findings } = work
  const boxes = await callInPage(work, 'findRegions', toQuery(element))
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
