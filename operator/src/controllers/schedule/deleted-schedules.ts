import { keyOf } from '@tintype/crds/client/kube-object'
import { isFinished } from '@tintype/crds/kinds/screenshot'
import type { ScreenshotSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { accountOf } from '@tintype/crds/records/record'
import { scheduleBaselinesPrefix, scheduleOptionsKey } from '@tintype/crds/records/storage-keys'
import type { Requeue } from '../../controller-runtime/controller.ts'
import type { TermDeps } from '../../runtime/deps.ts'
import { SCHEDULE_INDEX } from './observe.ts'

/** How often to check whether the last run of a deleted schedule has ended. */
const RECHECK_MILLISECONDS = 30_000

/**
 * Objects in the bucket of deleted schedules: options, and pictures to compare with. They are removed once no run needs them. If no
 * operator sees the deletion, the retention controller removes them.
 */
export class DeletedSchedules {
  readonly #deleted = new Map<string, ScreenshotSchedule>()
  readonly #deps: Pick<TermDeps, 'reflectors' | 'storage'>

  constructor(deps: Pick<TermDeps, 'reflectors' | 'storage'>) {
    this.#deps = deps
  }

  /** Adds a deleted schedule. */
  add(schedule: ScreenshotSchedule): void {
    const { spec, status } = schedule
    const hasPictures = status?.baseline !== undefined || status?.approvals !== undefined
    if (spec.template.optionsObject !== undefined || hasPictures) this.#deleted.set(keyOf(schedule), schedule)
  }

  /** Removes the objects of the deleted schedule with a key. @throws RetryableError */
  async remove(key: string): Promise<Requeue | undefined> {
    const schedule = this.#deleted.get(key)
    if (!schedule) return undefined
    const { name, uid } = schedule.metadata
    if (this.#deps.reflectors.screenshots.lister.byIndex(SCHEDULE_INDEX, uid).some((shot) => !isFinished(shot)))
      return { requeueAfterMilliseconds: RECHECK_MILLISECONDS }
    const account = accountOf(schedule)
    if (schedule.spec.template.optionsObject !== undefined) await this.#deps.storage.remove([scheduleOptionsKey(account, name)])
    await this.#deps.storage.removePrefix(scheduleBaselinesPrefix(account, uid))
    this.#deleted.delete(key)
    return undefined
  }
}
