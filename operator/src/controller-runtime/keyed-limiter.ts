// Limits how many jobs run at a time, in total and per key (here: per endpoint). Keys with waiting jobs are served round-robin, so an
// endpoint that hangs delays only its own jobs.

export interface KeyedLimits {
  total: number
  perKey: number
}

const RECHECK_MILLISECONDS = 1_000

interface KeyQueue {
  active: number
  waiting: (() => Promise<void>)[]
}

/** The limiter was closed before the job started. */
export class LimiterClosed extends Error {
  override readonly name = 'LimiterClosed'
}

export class KeyedLimiter {
  readonly #limits: KeyedLimits
  readonly #mayStart: () => boolean
  #recheck: NodeJS.Timeout | undefined
  readonly #queues = new Map<string, KeyQueue>()
  /** Keys with a waiting job and room for it, in round-robin order. */
  readonly #ready = new Set<string>()
  #active = 0
  #isClosed = false
  #onIdle: (() => void)[] = []

  /** @param mayStart returns false while no job may start; call {@link wake} when that changes */
  constructor(limits: KeyedLimits, mayStart: () => boolean = () => true) {
    this.#limits = limits
    this.#mayStart = mayStart
  }

  /** Starts all jobs that may start now. */
  wake(): void {
    this.#start()
  }

  /** Number of running jobs. */
  get active(): number {
    return this.#active
  }

  /** Runs `job` when both limits allow it. @throws LimiterClosed when the limiter is closed first */
  run<T>(key: string, job: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(new LimiterClosed('the limiter is closed'))
    return new Promise<T>((resolve, reject) => {
      const queue = this.#queues.get(key) ?? { active: 0, waiting: [] }
      this.#queues.set(key, queue)
      queue.waiting.push(async () => {
        if (this.#isClosed) return reject(new LimiterClosed('the limiter is closed'))
        await job().then(resolve, reject)
      })
      this.#refresh(key, queue)
      this.#start()
    })
  }

  /** Rejects waiting jobs and resolves when all running jobs have ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#recheck)
    const waiting = [...this.#queues.values()].flatMap((queue) => queue.waiting.splice(0))
    this.#ready.clear()
    await Promise.all(waiting.map((refuse) => refuse()))
    if (this.#active > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
  }

  #start(): void {
    for (const key of this.#ready) {
      if (this.#active >= this.#limits.total) return
      if (!this.#mayStart()) {
        this.#checkLater()
        return
      }
      this.#ready.delete(key)
      const queue = this.#queues.get(key)
      const job = queue?.waiting.shift()
      if (!queue || !job) continue
      queue.active++
      this.#active++
      void job().then(() => this.#end(key, queue))
      this.#refresh(key, queue) // goes to the end of the Set, and is visited again by this loop
    }
  }

  /** In case `wake` is not called. */
  #checkLater(): void {
    clearTimeout(this.#recheck)
    if (!this.#isClosed) this.#recheck = setTimeout(() => this.#start(), RECHECK_MILLISECONDS).unref()
  }

  #end(key: string, queue: KeyQueue): void {
    queue.active--
    this.#active--
    this.#refresh(key, queue)
    if (queue.active === 0 && queue.waiting.length === 0) this.#queues.delete(key)
    if (this.#active === 0) for (const resolve of this.#onIdle.splice(0)) resolve()
    this.#start()
  }

  #refresh(key: string, queue: KeyQueue): void {
    if (queue.waiting.length > 0 && queue.active < this.#limits.perKey) this.#ready.add(key)
  }
}
