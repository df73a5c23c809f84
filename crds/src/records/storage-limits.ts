// Maximum bytes of objects in the bucket. Readers refuse larger objects, which Tintype did not write.

const MEBIBYTE = 1024 * 1024

/** Maximum bytes by type of object. */
export const MAX_OBJECT_BYTES = {
  /** An object of the Kubernetes API has at most 1.5 MiB. */
  record: 2 * MEBIBYTE,
  /** A segment has 4 MiB, or one record. */
  segment: 8 * MEBIBYTE,
  /** Up to 100 ids. */
  batch: 16 * 1024,
  /** A result with all facts about the page. */
  cacheEntry: MEBIBYTE,
  /** A plan of up to 100 ids, and the response. */
  idempotency: 4 * MEBIBYTE,
  /** Times and the outcome of one run. */
  run: 4 * 1024,
  /** Id and digest of a record. */
  name: 4 * 1024,
  /** 500 lines of a delivery log. */
  deliveryLog: 8 * MEBIBYTE,
} as const
