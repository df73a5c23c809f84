/** One way of taking pictures, as the engine's bench runs it. */
export interface Contender {
  name: string
  /** How many pages it may have open at once: 1, 2 and 4 are asked for where it can. */
  lanes: readonly number[]
  /** Takes each page once. */
  run: (pages: readonly string[], lanes: number) => Promise<Run>
  /** Seconds of processor time that it has used so far, its browsers' included. */
  processorSeconds: () => number
  close: () => Promise<void>
}

/** What one run came to. */
export interface Run {
  milliseconds: number
  /** Encoded pictures by page, read after the time was taken. */
  pictures: ReadonlyMap<string, Buffer>
}
