// Treat every object in the bucket as untrusted input. An object that is malformed or in the wrong place counts as absent:
// it is counted and logged, never deleted, and never the cause of a failed request.

/** Kinds of objects in the bucket. */
export const STORED_KINDS = [
  'record',
  'segment',
  'tombstone',
  'batch',
  'idempotency',
  'options',
  'cache',
  'rewrite',
  'expiry',
  'gone',
  'event',
  'delivery_log',
  'file',
] as const
export type StoredKind = (typeof STORED_KINDS)[number]

/** Why an object is ignored. */
export const IGNORE_REASONS = [
  /** Its key is not of a form that Tintype writes, or its day does not fit its id. */
  'key',
  /** It is not what its schema says. */
  'content',
  /** It is larger than Tintype writes it. */
  'size',
  /** It holds another id than its key, or one that does not follow from what it must follow from. */
  'id',
  /** It is of another account than its key. */
  'account',
  /** It is dated in the future. */
  'time',
  /** It asks for a deletion that neither the Kubernetes API, nor a record, nor a signature confirms. */
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

/** Keys that are remembered, so that each is logged once: about 2 MB at most. */
const MAX_KEYS = 2_000

/** Counts ignored objects each time that they are met, and logs each key once. */
export class IgnoredObjects {
  readonly #count: IgnoredObjectsOptions['count']
  readonly #log: Log
  readonly #maxKeys: number
  /** Those met last, the oldest first. */
  readonly #logged = new Set<string>()

  constructor({ count, log, maxKeys = MAX_KEYS }: IgnoredObjectsOptions) {
    this.#count = count
    this.#log = log
    this.#maxKeys = maxKeys
  }

  readonly report: ReportIgnored = ({ kind, reason, key }) => {
    this.#count({ kind, reason })
    const isKnown = this.#logged.delete(key)
    this.#logged.add(key)
    if (isKnown) return
    for (const oldest of this.#logged) {
      if (this.#logged.size <= this.#maxKeys) break
      this.#logged.delete(oldest)
    }
    this.#log.warn({ key, kind, reason }, 'ignored an object in the bucket')
  }
}

/** Every pair of labels that a program may count, so that the first of each is an increase that Prometheus sees. */
export const IGNORED_LABELS = STORED_KINDS.flatMap((kind) => IGNORE_REASONS.map((reason) => ({ kind, reason })))

/** What both programs count them as. */
export const IGNORED_METRIC = {
  name: 'screenshot_storage_objects_ignored_total',
  help: 'Objects in the bucket that were read and ignored, by kind and reason. Rises when something else writes into the bucket, and for events after gateway.publicUrl has changed.',
  labelNames: ['kind', 'reason'] as const,
}
