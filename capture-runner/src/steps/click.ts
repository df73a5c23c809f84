import { answered } from '../race.ts'
import { findElement, firstVisible } from './find-element.ts'
import { follow } from './navigate.ts'
import type { Step } from './step.ts'

interface Point {
  x: number
  y: number
}

/** Clicks the first visible match as a person would, with the pointer in its middle, and goes along where it leads. */
export const click: Step = {
  name: 'click',
  isWanted: (plan) => plan.click !== undefined,
  run: async (work) => {
    const { tab, plan, signal } = work
    const selector = plan.click ?? ''
    await findElement(work, selector)
    const { x, y } = await tab.look<Point>(middleOf(selector), signal)
    const press = { x, y, button: 'left', clickCount: 1 } as const
    await answered(
      Promise.all([
        tab.session.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y }),
        tab.session.send('Input.dispatchMouseEvent', { type: 'mousePressed', buttons: 1, ...press }),
        tab.session.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...press }),
      ]),
      signal,
    )
    await follow(work)
  },
}

const middleOf = (selector: string): string => `(() => {
  const element = ${firstVisible(selector)}
  element.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' })
  const { x, y, width, height } = element.getClientRects()[0]
  return { x: x + width / 2, y: y + height / 2 }
})()`
