import { type Line, parseArchivedLine, parseSegmentKey, type SegmentName } from '@tintype/crds/archive'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { segmentsPrefix, tombstonesPrefix } from '@tintype/crds/storage-keys'
import type { ObjectStore } from '../store/ports.ts'
import { LineMerge } from './merge.ts'
import type { SegmentCache } from './segment-cache.ts'

/** What a scan reads from. */
export interface ScanDeps {
  objects: Pick<ObjectStore, 'read' | 'list'>
  cache: SegmentCache
}

/** Keys that the bucket lists at once. */
const PAGE = 1_000

/** A segment that was listed is not there any more: others hold its records now. */
class SegmentReplaced extends Error {}

async function listSegments(account: string, day: string, { objects }: ScanDeps): Promise<SegmentName[]> {
  const prefix = segmentsPrefix(account, day)
  const names: SegmentName[] = []
  for (let after: string | undefined; ; ) {
    const keys = await objects.list(prefix, { after, limit: PAGE })
    names.push(...keys.flatMap((key) => parseSegmentKey(key) ?? []))
    if (keys.length < PAGE) return names
    after = keys.at(-1)
  }
}

async function load({ key }: SegmentName, { objects, cache }: ScanDeps): Promise<readonly Line[]> {
  const known = cache.get(key)
  if (known !== undefined) return known
  const stored = await objects.read(key)
  if (stored === undefined) throw new SegmentReplaced(key)
  return cache.set(key, stored.text)
}

/** The deleted records of a day, listed as far as they are asked for. Ids must be asked for in order. */
class Tombstones {
  readonly #prefix: string
  readonly #objects: ScanDeps['objects']
  #ids = new Set<string>()
  /** Up to which id it is known; undefined: to the end. */
  #until: string | undefined

  constructor(prefix: string, after: string | undefined, objects: ScanDeps['objects']) {
    this.#prefix = prefix
    this.#objects = objects
    this.#until = after ?? ''
  }

  async has(id: string): Promise<boolean> {
    while (this.#until !== undefined && id > this.#until) {
      const keys = await this.#objects.list(this.#prefix, { after: this.#prefix + this.#until, limit: PAGE })
      const ids = keys.map((key) => key.slice(this.#prefix.length))
      this.#ids = new Set(ids)
      this.#until = ids.length < PAGE ? undefined : ids.at(-1)
    }
    return this.#ids.has(id)
  }
}

/** The line that was written last: a record may have been archived twice. */
const latestOf = (lines: readonly Line[]): Screenshot =>
  lines
    .map(({ line }) => parseArchivedLine(line))
    .reduce((latest, next) => (Number(next.metadata.resourceVersion) > Number(latest.metadata.resourceVersion) ? next : latest))

async function* scanSegments(
  account: string,
  day: string,
  after: string | undefined,
  deps: ScanDeps,
): AsyncGenerator<{ id: string; screenshot: Screenshot }> {
  const listed = await listSegments(account, day, deps)
  // Beyond the cursor only, and by first id, as the bucket lists them.
  const waiting = listed.filter(({ last }) => after === undefined || last > after)
  const tombstones = new Tombstones(tombstonesPrefix(account, day), after, deps.objects)
  const merge = new LineMerge()
  for (;;) {
    const id = merge.nextId
    // A segment is read when one of its records may come next, not before.
    if (waiting[0] !== undefined && (id === undefined || waiting[0].first <= id)) {
      merge.add(await load(waiting.shift()!, deps), after)
      continue
    }
    if (id === undefined) return
    const lines = merge.take(id)
    if (!(await tombstones.has(id))) yield { id, screenshot: latestOf(lines) }
  }
}

/** Archived records of an account and a day after an id, newest first, without deleted ones. */
export async function* scanDay(account: string, day: string, after: string | undefined, deps: ScanDeps): AsyncGenerator<Screenshot> {
  for (let cursor = after; ; ) {
    try {
      for await (const { id, screenshot } of scanSegments(account, day, cursor, deps)) {
        cursor = id
        yield screenshot
      }
      return
    } catch (error) {
      if (!(error instanceof SegmentReplaced)) throw error
    }
  }
}
