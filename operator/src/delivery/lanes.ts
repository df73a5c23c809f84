// Bounds how many posts run at once, in all and to each endpoint, and takes waiting endpoints in turn: one that hangs fills its own lane
// and nobody else's.

export interface LaneLimits {
  total: number
  perLane: number
}

const LOOK_MILLISECONDS = 1_000

interface Lane {
  active: number
  waiting: (() => Promise<void>)[]
}

/** Work that the lanes no longer start. */
export class LanesClosed extends Error {
  override readonly name = 'LanesClosed'
}

/** See the head of this file. */
export class Lanes {
  readonly #limits: LaneLimits
  readonly #mayStart: () => boolean
  #nextLook: NodeJS.Timeout | undefined
  readonly #lanes = new Map<string, Lane>()
  /** Lanes with work that may start, in the order of their turns. */
  readonly #ready = new Set<string>()
  #active = 0
  #isClosed = false
  #onIdle: (() => void)[] = []

  /** @param mayStart false while nothing at all is to be started; {@link wake} tells that it may have changed */
  constructor(limits: LaneLimits, mayStart: () => boolean = () => true) {
    this.#limits = limits
    this.#mayStart = mayStart
  }

  /** Starts what may start by now. */
  wake(): void {
    this.#start()
  }

  /** Posts that run now. */
  get active(): number {
    return this.#active
  }

  /** Runs `job` when its lane and the whole have room. @throws LanesClosed when they close before */
  run<T>(name: string, job: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(new LanesClosed('no more posts are started'))
    return new Promise<T>((resolve, reject) => {
      const lane = this.#lanes.get(name) ?? { active: 0, waiting: [] }
      this.#lanes.set(name, lane)
      lane.waiting.push(async () => {
        if (this.#isClosed) return reject(new LanesClosed('no more posts are started'))
        await job().then(resolve, reject)
      })
      this.#refresh(name, lane)
      this.#start()
    })
  }

  /** Starts nothing more; resolves when what runs has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#nextLook)
    const waiting = [...this.#lanes.values()].flatMap((lane) => lane.waiting.splice(0))
    this.#ready.clear()
    await Promise.all(waiting.map((refuse) => refuse()))
    if (this.#active > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
  }

  #start(): void {
    for (const name of this.#ready) {
      if (this.#active >= this.#limits.total) return
      if (!this.#mayStart()) {
        this.#lookAgain()
        return
      }
      this.#ready.delete(name)
      const lane = this.#lanes.get(name)
      const job = lane?.waiting.shift()
      if (!lane || !job) continue
      lane.active++
      this.#active++
      void job().then(() => this.#end(name, lane))
      this.#refresh(name, lane) // to the back of the turn: a Set visits what is added while it is walked
    }
  }

  /** Should nobody wake us. */
  #lookAgain(): void {
    clearTimeout(this.#nextLook)
    if (!this.#isClosed) this.#nextLook = setTimeout(() => this.#start(), LOOK_MILLISECONDS).unref()
  }

  #end(name: string, lane: Lane): void {
    lane.active--
    this.#active--
    this.#refresh(name, lane)
    if (lane.active === 0 && lane.waiting.length === 0) this.#lanes.delete(name)
    if (this.#active === 0) for (const tell of this.#onIdle.splice(0)) tell()
    this.#start()
  }

  #refresh(name: string, lane: Lane): void {
    if (lane.waiting.length > 0 && lane.active < this.#limits.perLane) this.#ready.add(name)
  }
}
