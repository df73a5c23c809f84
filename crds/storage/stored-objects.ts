import { OBJECTS, type StoredKind } from '../src/records/folders.ts'
import type { IgnoreReason, ReportIgnored } from '../src/records/ignored-objects.ts'
import { isTooLarge, type ListedObject, type ListKeys, type ObjectStorage, PAGE } from './port.ts'

/** Access to objects that others may have written. */
export interface StoredReader {
  storage: Pick<ObjectStorage, 'readText'>
  /** Called for objects that count as absent. */
  report: ReportIgnored
}

/** Reads an object; undefined if it does not exist. One that is larger than Tintype writes it is reported and counts as absent. */
export async function readStored(kind: StoredKind, key: string, { storage, report }: StoredReader): Promise<string | undefined> {
  try {
    return await storage.readText(key, OBJECTS[kind].maxBytes)
  } catch (error) {
    if (!isTooLarge(error)) throw error
    report({ kind, reason: 'size', key })
    return undefined
  }
}

/** Like {@link readStored}. An object that `parse` does not accept is reported with its reason, and counts as absent. */
export async function readParsed<T extends object>(
  kind: StoredKind,
  key: string,
  parse: (text: string) => T | IgnoreReason,
  reader: StoredReader,
): Promise<T | undefined> {
  const text = await readStored(kind, key, reader)
  const parsed = text === undefined ? undefined : parse(text)
  if (typeof parsed !== 'string') return parsed
  reader.report({ kind, reason: parsed, key })
  return undefined
}

/** Waits for a read. Returns an empty text for an object that is too large, to distinguish it from a missing one. */
export async function emptyIfTooLarge(read: Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await read
  } catch (error) {
    if (isTooLarge(error)) return ''
    throw error
  }
}

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
