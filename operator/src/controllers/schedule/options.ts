import { keyOf } from '@tintype/crds/client/kube-object'
import type { Lister } from '@tintype/crds/client/lister'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import type { ScreenshotSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { accountOf } from '@tintype/crds/records/record'
import { scheduleOptionsKey } from '@tintype/crds/records/storage-keys'
import type { Requeue } from '../../controller-runtime/controller.ts'
import type { Storage } from '../../storage/storage.ts'
import { SCHEDULE_INDEX } from './observe.ts'

/** How often to check whether the last run of a deleted schedule has ended. */
const RECHECK_MILLISECONDS = 30_000

export interface OptionsDeps {
  screenshots: Pick<Lister<Screenshot>, 'byIndex'>
  storage: Pick<Storage, 'remove'>
}

/** Options in the bucket of deleted schedules. They are removed once no run needs them. */
export class Options {
  readonly #deleted = new Map<string, ScreenshotSchedule>()
  readonly #deps: OptionsDeps

  constructor(deps: OptionsDeps) {
    this.#deps = deps
  }

  /** Adds a deleted schedule. */
  add(schedule: ScreenshotSchedule): void {
    if (schedule.spec.template.optionsObject !== undefined) this.#deleted.set(keyOf(schedule), schedule)
  }

  /** Removes the options of the deleted schedule with a key. @throws RetryableError */
  async remove(key: string): Promise<Requeue | undefined> {
    const schedule = this.#deleted.get(key)
    if (!schedule) return undefined
    const { name, uid } = schedule.metadata
    if (this.#deps.screenshots.byIndex(SCHEDULE_INDEX, uid).some((shot) => !isFinished(shot)))
      return { requeueAfterMilliseconds: RECHECK_MILLISECONDS }
    await this.#deps.storage.remove([scheduleOptionsKey(accountOf(schedule), name)])
    this.#deleted.delete(key)
    return undefined
  }
}
