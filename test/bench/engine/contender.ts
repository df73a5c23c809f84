/** One capture method in the engine benchmark. */
export interface Contender {
  name: string
  /** Supported numbers of concurrent pages, of 1, 2 and 4. */
  lanes: readonly number[]
  /** Captures each page once. */
  run: (pages: readonly string[], lanes: number) => Promise<Run>
  /** Seconds of processor time used so far, including its browsers. */
  processorSeconds: () => number
  close: () => Promise<void>
}

/** Results of one run. */
export interface Run {
  milliseconds: number
  /** Encoded pictures by page, read after the measurement. */
  pictures: ReadonlyMap<string, Buffer>
}
