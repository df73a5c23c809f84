/** One page of a list, and how to read the next one. */
export interface Page<T> {
  data: readonly T[]
  /** Reads the next page. Undefined on the last page. */
  next: (() => Promise<Page<T>>) | undefined
}

/**
 * A list that is read page by page while you iterate. The next page is requested only when all items of the current one have been used, and one
 * page is held at a time. Each iteration starts again at the first page.
 */
export class List<T> implements AsyncIterable<T> {
  readonly #first: () => Promise<Page<T>>

  constructor(first: () => Promise<Page<T>>) {
    this.#first = first
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page
  }

  /** Iterates over the pages. A page can be empty although more pages follow, because a request reads a limited number of records. */
  async *pages(): AsyncGenerator<readonly T[], void, undefined> {
    let page = await this.#first()
    for (;;) {
      yield page.data
      if (page.next === undefined) return
      page = await page.next()
    }
  }

  /** Reads all items into an array. */
  async toArray(): Promise<T[]> {
    const items: T[] = []
    for await (const page of this.pages()) items.push(...page)
    return items
  }
}
