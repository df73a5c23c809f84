import type { Readable } from 'node:stream'

// The port to the bucket. Gateway and operator use the same client (open-storage.ts).

/** Keys that a store lists or removes in one request. */
export const PAGE = 1_000

/** A stored file. */
export interface StoredFile {
  sizeBytes: number
  /** Without quotes. */
  etag: string
  lastModified: Date
}

/** An entry of a list. */
export interface ListedObject {
  key: string
  /** Time at which it was stored, by the store's clock. */
  lastModified: Date
}

/** The content of a small object. */
export interface StoredText {
  text: string
  /** Without quotes. */
  etag: string
}

/** A range of bytes, counted from 0, including both ends. */
export interface ByteSpan {
  start: number
  end: number
}

/** Condition of a write; empty: unconditional. */
export interface WriteCondition {
  ifAbsent?: boolean
  /** The ETag that the existing object must have, without quotes. */
  ifMatch?: string
}

/** Keys to list: at most `limit` (maximum 1000) after the key `after`. With `folders`, keys are grouped at the next slash. */
export interface ListKeys {
  after?: string | undefined
  limit?: number
  folders?: boolean
}

/** URL and headers with which a runner uploads one file. */
export interface Upload {
  url: string
  headers: Record<string, string>
}

/** URL and headers with which a runner reads one file. */
export interface SignedRead {
  url: string
  headers: Record<string, string>
}

/** The bucket. Every method is safe to retry, has a time limit, and throws the errors of {@link StorageErrors}. */
export interface ObjectStorage {
  /** Creates the bucket if it does not exist. */
  ensureBucket(): Promise<void>
  /** @throws also if the bucket does not exist */
  check(): Promise<void>
  stat(key: string): Promise<StoredFile | undefined>
  /** Whether an object with the key exists. */
  exists(key: string): Promise<boolean>
  /** Reads a small object; undefined if it does not exist. @throws also if it exceeds `maxBytes`: see {@link isTooLarge} */
  read(key: string, maxBytes: number): Promise<StoredText | undefined>
  /** Like {@link read}, without the ETag. */
  readText(key: string, maxBytes: number): Promise<string | undefined>
  /** Streams a file or a part of it; undefined if it does not exist. This read has no byte limit, because callers pass the stream on. */
  open(key: string, span?: ByteSpan): Promise<Readable | undefined>
  /** Returns the new ETag, or undefined if the condition is not met. */
  write(key: string, text: string, condition?: WriteCondition): Promise<string | undefined>
  /** Lists one page of keys with a prefix, in order. */
  list(prefix: string, options?: ListKeys): Promise<string[]>
  /** Like {@link list}, with the time at which each object was stored. */
  listObjects(prefix: string, options?: Omit<ListKeys, 'folders'>): Promise<ListedObject[]>
  remove(keys: readonly string[]): Promise<void>
  /** Removes every object whose key begins with `prefix`. */
  removePrefix(prefix: string): Promise<void>
  /** Copies one object inside the bucket. Returns the ETag of the copy, or undefined if no object has the ETag `etag`. */
  copy(copied: { from: string; etag: string; to: string }): Promise<string | undefined>
  /** Creates a URL for GETs of one object. With `etag`, they fail with 412 if the object has another one. */
  presignGet(read: { key: string; etag?: string | undefined; expiresAt: Date; now: Date }): SignedRead
  /** Creates a URL for one PUT of one new object. */
  presignPut(upload: { key: string; contentType: string; expiresAt: Date; now: Date }): Upload
}

/** Creates a program's own error, with the original error as its `cause`. */
export type StorageErrors = (what: string, cause: unknown) => Error

/** An object exceeds the byte limit of its reader. */
export class ObjectTooLargeError extends Error {
  override readonly name = 'ObjectTooLargeError'
  readonly key: string

  constructor(key: string, maxBytes: number) {
    super(`${key} has more than ${maxBytes} bytes`)
    this.key = key
  }
}

/** The store refused the access key: it is unknown, or has no permission. */
export class AccessRefusedError extends Error {
  override readonly name = 'AccessRefusedError'
}

/** Whether the store refused the access key of a call. */
export const isRefused = (error: unknown): boolean =>
  error instanceof AccessRefusedError || (error instanceof Error && error.cause instanceof AccessRefusedError)

/** Whether a read failed because the object is too large, so that a retry cannot help. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof ObjectTooLargeError || (error instanceof Error && error.cause instanceof ObjectTooLargeError)
