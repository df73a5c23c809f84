import { toCall } from '../../page/call.ts'
import { inDocument, type Work } from '../step.ts'

/**
 * The next idle time of a page. Once it is over, all idle callbacks that the page had requested have been called. The browser may delay them by more than
 * 300 ms, and a busy machine as well.
 */
export class IdleTime {
  isOver = false

  constructor(work: Work) {
    const end = () => {
      this.isOver = true
    }
    inDocument(work, undefined, () => work.tab.evaluate(toCall('whenIdle'), work.signal, true)).then(end, end)
  }
}
