import type { Reflector } from '@tintype/crds/client/reflector'
import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { toObjectName } from '@tintype/crds/identifiers/names'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { isReused } from '@tintype/crds/records/cache'
import { isRestored } from '@tintype/crds/records/named-record'
import { accountOf } from '@tintype/crds/records/record'
import { isUnrunnable } from '@tintype/crds/schema/conditions'
import type { EventSubject } from '@tintype/crds/schema/event-types'
import { eventSubjectOf } from '@tintype/crds/webhooks/events'
import type { QueueView, SubjectQueue } from '../../../store/ports.ts'
import { isHidden } from './screenshot-state.ts'

const WAITING = 'waiting'
const RUNNING = 'running'
/** As WAITING, for screenshots and videos separately. */
const WAITING_SUBJECT = 'waiting/subject'

/** Weight of the newest capture in the moving average. */
const NEWEST = 0.1

const phaseOf = ({ status }: Screenshot): string => status?.phase ?? 'Pending'
/** Screenshots that cannot run are not counted as queued. */
const isWaiting = (shot: Screenshot): boolean => phaseOf(shot) === 'Pending' && !isHidden(shot) && !isUnrunnable(shot)

const keyOf = (subject: EventSubject, account: string): string => `${subject}/${account}`

/** The queue according to the Screenshot informer cache, and the mean duration of the captures whose end this replica has seen. */
export class KubeQueue implements QueueView {
  readonly #reflector: Reflector<Screenshot>
  readonly #namespace: string
  readonly isBacklogged: () => boolean
  readonly #meanCaptureMilliseconds = new Map<EventSubject, number>()

  constructor(reflector: Reflector<Screenshot>, namespace: string, isBacklogged: () => boolean) {
    this.#reflector = reflector
    this.#namespace = namespace
    this.isBacklogged = isBacklogged
    reflector.lister
      .addIndex(WAITING, (shot) => (isWaiting(shot) ? accountOf(shot) : undefined))
      // Ids contain an inverted timestamp, so the natural order is newest first.
      .addIndex(WAITING_SUBJECT, (shot) => (isWaiting(shot) ? keyOf(eventSubjectOf(shot), accountOf(shot)) : undefined), {
        orderBy: ({ metadata }) => screenshotIdOf(metadata),
      })
      .addIndex(RUNNING, (shot) => (phaseOf(shot) === 'Running' ? eventSubjectOf(shot) : undefined))
    reflector.addListener(({ type, object, old }) => {
      if (type !== 'deleted' && isFinished(object) && !(old && isFinished(old))) this.#noteEnd(object)
    })
  }

  of(subject: EventSubject): SubjectQueue {
    const { lister } = this.#reflector
    const prefix = keyOf(subject, '')
    return {
      running: lister.countByIndex(RUNNING, subject),
      meanCaptureMilliseconds: this.#meanCaptureMilliseconds.get(subject),
      accounts: () => lister.indexValues(WAITING_SUBJECT).flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : [])),
      waitingOf: (account) => lister.countByIndex(WAITING_SUBJECT, keyOf(subject, account)),
    }
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
    const key = keyOf(eventSubjectOf(screenshot), accountOf(screenshot))
    return this.#reflector.lister.countAfter(WAITING_SUBJECT, key, screenshotIdOf(screenshot.metadata))
  }

  #noteEnd(shot: Screenshot): void {
    const { status } = shot
    if (isReused(shot) || isRestored(shot)) return
    const milliseconds = Date.parse(status?.completionTime ?? '') - Date.parse(status?.startTime ?? '')
    if (!(milliseconds >= 0)) return
    const subject = eventSubjectOf(shot)
    const mean = this.#meanCaptureMilliseconds.get(subject) ?? milliseconds
    this.#meanCaptureMilliseconds.set(subject, mean + NEWEST * (milliseconds - mean))
  }
}
