/** Captures of a runner in which this many hung frames of an account end its trust. */
const CAPTURES = 100
const HANGS = 3

/**
 * Decides for which accounts the runner begins the frames of its tabs. An account whose pages hang frames again and again gets tabs that draw by
 * themselves, because each hang loads its page a second time. Counted for each account, so that nobody can change the pictures of others.
 */
export class FrameTrust {
  #captures = 0
  /** Numbers of the captures whose frames hung. */
  readonly #hangs = new Map<string, number[]>()

  /** Notes that a capture begins. */
  noteCapture(): void {
    this.#captures += 1
  }

  /** Notes that a frame of an account hung. @returns true if the account is no longer trusted because of it */
  noteHang(account: string): boolean {
    const hangs = [...this.#recent(account), this.#captures]
    this.#hangs.set(account, hangs)
    return hangs.length === HANGS
  }

  isTrusted(account: string): boolean {
    return this.#recent(account).length < HANGS
  }

  #recent(account: string): number[] {
    return (this.#hangs.get(account) ?? []).filter((capture) => capture > this.#captures - CAPTURES)
  }
}
