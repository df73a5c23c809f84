import type { Reflector } from '@tintype/crds/client/reflector'
import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { toObjectName } from '@tintype/crds/identifiers/names'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { isReused } from '@tintype/crds/records/cache'
import { accountOf } from '@tintype/crds/records/record'
import { isUnrunnable } from '@tintype/crds/schema/conditions'
import type { QueueView } from '../../../store/ports.ts'
import { isDeleted } from './screenshot-state.ts'

const WAITING = 'waiting'
const PHASE = 'phase'

/** Weight of the newest capture in the moving average. */
const NEWEST = 0.1

const phaseOf = ({ status }: Screenshot): string => status?.phase ?? 'Pending'
/** Screenshots that cannot run are not counted as queued. */
const isWaiting = (shot: Screenshot): boolean => phaseOf(shot) === 'Pending' && !isDeleted(shot) && !isUnrunnable(shot)

/** The queue according to the Screenshot informer cache, and the mean duration of the captures whose end this replica has seen. */
export class KubeQueue implements QueueView {
  readonly #reflector: Reflector<Screenshot>
  readonly #namespace: string
  readonly #isBacklogged: () => boolean
  #meanCaptureMilliseconds: number | undefined

  constructor(reflector: Reflector<Screenshot>, namespace: string, isBacklogged: () => boolean) {
    this.#reflector = reflector
    this.#namespace = namespace
    this.#isBacklogged = isBacklogged
    reflector.lister
      // Ids contain an inverted timestamp, so the natural order is newest first.
      .addIndex(WAITING, (shot) => (isWaiting(shot) ? accountOf(shot) : undefined), { orderBy: ({ metadata }) => screenshotIdOf(metadata) })
      .addIndex(PHASE, phaseOf)
    reflector.addListener(({ type, object, old }) => {
      if (type !== 'deleted' && isFinished(object) && !(old && isFinished(old))) this.#noteEnd(object)
    })
  }

  get running(): number {
    return this.#reflector.lister.countByIndex(PHASE, 'Running')
  }

  get meanCaptureMilliseconds(): number | undefined {
    return this.#meanCaptureMilliseconds
  }

  accounts(): string[] {
    return this.#reflector.lister.indexValues(WAITING)
  }

  waitingOf(account: string): number {
    return this.#reflector.lister.countByIndex(WAITING, account)
  }

  has(id: string): boolean {
    return this.#reflector.lister.has(`${this.#namespace}/${toObjectName(id)}`)
  }

  countAhead(screenshot: Screenshot): number | undefined {
    if (!isWaiting(screenshot)) return undefined
    return this.#reflector.lister.countAfter(WAITING, accountOf(screenshot), screenshotIdOf(screenshot.metadata))
  }

  isBacklogged(): boolean {
    return this.#isBacklogged()
  }

  #noteEnd({ spec, status }: Screenshot): void {
    if (isReused({ spec, status })) return
    const milliseconds = Date.parse(status?.completionTime ?? '') - Date.parse(status?.startTime ?? '')
    if (!(milliseconds >= 0)) return
    const mean = this.#meanCaptureMilliseconds ?? milliseconds
    this.#meanCaptureMilliseconds = mean + NEWEST * (milliseconds - mean)
  }
}
