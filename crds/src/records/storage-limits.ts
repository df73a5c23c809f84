// Bytes of the objects in the bucket, at most. Readers take no more: what is longer was not written by Tintype.

const MEBIBYTE = 1024 * 1024

/** By kind of object. */
export const MAX_OBJECT_BYTES = {
  /** An object of the Kubernetes API has 1.5 MiB at most. */
  record: 2 * MEBIBYTE,
  /** A segment holds 4 MiB, or one record. */
  segment: 8 * MEBIBYTE,
  /** Up to 100 ids. */
  batch: 16 * 1024,
  /** A result with every note of a page. */
  cacheEntry: MEBIBYTE,
  /** A plan of up to 100 ids, and what was answered. */
  idempotency: 4 * MEBIBYTE,
  /** 500 lines of a delivery log. */
  deliveryLog: 8 * MEBIBYTE,
} as const
