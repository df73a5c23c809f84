import { LRUCache } from 'lru-cache'
import { parseJson } from '../text/json.ts'
import { type ListedKind, OBJECTS, type PartsOf, STORED_KINDS, type StoredKind } from './folders.ts'

// Treat every object in the bucket as untrusted input. An object that is malformed or in the wrong place counts as absent:
// it is counted and logged, never deleted, and never the cause of a failed request.

/** Why an object is ignored. */
const IGNORE_REASONS = [
  /** Tintype does not write such keys, or the day of the key does not match its id. */
  'key',
  /** The content does not match its schema. */
  'content',
  /** The object is larger than Tintype writes it. */
  'size',
  /** Its id differs from the id in its key, or from the id that is derived from its metadata. */
  'id',
  /** Its account differs from the account in its key. */
  'account',
  /** It has a date in the future. */
  'time',
  /** It requests a deletion that neither the Kubernetes API, a record nor a signature confirms. */
  'unconfirmed',
] as const
export type IgnoreReason = (typeof IGNORE_REASONS)[number]

/** One object that was read and ignored. */
export interface IgnoredObject {
  kind: StoredKind
  reason: IgnoreReason
  key: string
}

export type ReportIgnored = (ignored: IgnoredObject) => void

/** Reads the parts of listed keys. Reports those that Tintype does not write. */
export const parseKeys = <K extends ListedKind>(kind: K, keys: readonly string[], report: ReportIgnored): PartsOf<K>[] =>
  keys.flatMap((key) => {
    const parse = OBJECTS[kind].parse as (key: string) => PartsOf<K> | undefined
    const parts = parse(key)
    if (parts === undefined) report({ kind, reason: 'key', key })
    return parts ?? []
  })

/** No-op reporter. */
export const ignoreSilently: ReportIgnored = () => {}

interface Log {
  warn: (fields: object, message: string) => void
}

export interface IgnoredObjectsOptions {
  count: (labels: { kind: StoredKind; reason: IgnoreReason }) => void
  log: Log
  maxKeys?: number
}

/** Maximum keys to remember, so that each is logged once: about 2 MB. */
const MAX_KEYS = 2_000

/** Counts every read of an ignored object, and logs each key once. */
export class IgnoredObjects {
  readonly #count: IgnoredObjectsOptions['count']
  readonly #log: Log
  /** The most recent keys. */
  readonly #logged: LRUCache<string, true>

  constructor({ count, log, maxKeys = MAX_KEYS }: IgnoredObjectsOptions) {
    this.#count = count
    this.#log = log
    this.#logged = new LRUCache({ max: maxKeys })
  }

  readonly report: ReportIgnored = ({ kind, reason, key }) => {
    this.#count({ kind, reason })
    if (this.#logged.get(key)) return
    this.#logged.set(key, true)
    this.#log.warn({ key, kind, reason }, 'ignored object in the bucket')
  }
}

/** Every combination of labels. The programs initialize each counter, so that Prometheus sees the first increase. */
export const IGNORED_LABELS = STORED_KINDS.flatMap((kind) => IGNORE_REASONS.map((reason) => ({ kind, reason })))

/** The metric of both programs. */
export const IGNORED_METRIC = {
  name: 'screenshot_storage_objects_ignored_total',
  help: 'Objects in the bucket that were read and ignored, by kind and reason. Rises when something else writes into the bucket, and for events after gateway.publicUrl has changed.',
  labelNames: ['kind', 'reason'] as const,
}

/** Four times the depth of the JSON that Tintype writes, and a tenth of the depth that recursive code can handle. */
const MAX_DEPTH = 64

/** Parses a JSON text from the bucket. Returns undefined for invalid JSON, JSON that is nested too deep, and a property named __proto__. */
export function parseStoredJson(text: string): unknown {
  const value = parseJson(text)
  return isPlain(value, MAX_DEPTH) ? value : undefined
}

function isPlain(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth === 0 || Object.hasOwn(value, '__proto__')) return false
  for (const child of Array.isArray(value) ? value : Object.values(value)) if (!isPlain(child, depth - 1)) return false
  return true
}

/** Tolerance for future times in the bucket, because clocks differ and days are whole. */
const TOLERANCE_MILLISECONDS = 86_400_000

/** True for a future or invalid date. */
export const isFuture = (at: Date, now: Date): boolean => !(at.getTime() <= now.getTime() + TOLERANCE_MILLISECONDS)
