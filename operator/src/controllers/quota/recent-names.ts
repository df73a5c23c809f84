import type { Reflector } from '@tintype/crds/client/reflector'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Clock } from '../../controller-runtime/clock.ts'

const REMEMBER_MILLISECONDS = 900_000
const MAX_REMEMBERED = 50_000

/** Names of Screenshots that were deleted recently: a deletion with kubectl leaves no trace in the bucket. */
export class RecentNames {
  readonly #goneAt = new Map<string, number>()
  readonly #clock: Clock

  constructor(screenshots: Pick<Reflector<Screenshot>, 'addListener'>, clock: Clock) {
    this.#clock = clock
    screenshots.addListener(({ type, object }) => {
      if (type === 'deleted') this.#remember(object.metadata.name)
    })
  }

  has(name: string): boolean {
    return this.#goneAt.has(name)
  }

  /** Maps keep insertion order: the oldest names come first. */
  #remember(name: string): void {
    const now = this.#clock.monotonic()
    this.#goneAt.set(name, now)
    for (const [oldest, at] of this.#goneAt) {
      if (this.#goneAt.size <= MAX_REMEMBERED && now - at < REMEMBER_MILLISECONDS) return
      this.#goneAt.delete(oldest)
    }
  }
}
