import { type ListedObject, type ListKeys, type ObjectStorage, PAGE } from './port.ts'

interface PageOptions extends Pick<ListKeys, 'after' | 'folders'> {
  /** Entries of the first page, if few are likely. */
  first?: number
}

/** All keys with a prefix, in pages. With `folders`, keys are grouped at the next slash. Callers may delete what a page lists. */
export const listPages = (prefix: string, storage: Pick<ObjectStorage, 'list'>, options: PageOptions = {}): AsyncGenerator<string[]> =>
  pagesOf((page) => storage.list(prefix, page), options)

/** Like {@link listPages}, with the time at which each object was stored. */
export const listObjectPages = (prefix: string, storage: Pick<ObjectStorage, 'listObjects'>, options: Omit<PageOptions, 'folders'> = {}) =>
  pagesOf((page) => storage.listObjects(prefix, page), options)

async function* pagesOf<T extends string | ListedObject>(
  list: (page: ListKeys) => Promise<T[]>,
  { after, folders = false, first = PAGE }: PageOptions,
): AsyncGenerator<T[]> {
  for (let last = after, limit = first; ; limit = PAGE) {
    const entries = await list({ after: last, limit, folders })
    yield entries
    const end = entries.at(-1)
    if (end === undefined || entries.length < limit) return
    // After all keys of a folder: some stores would list it again.
    last = (typeof end === 'string' ? end : end.key).replace(/\/$/, '/~')
  }
}
