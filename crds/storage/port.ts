import type { Readable } from 'node:stream'

// What the programs do in the bucket. Gateway and operator use the same port and the same client (open-storage.ts).

/** Keys that a store lists or removes at once. */
export const PAGE = 1_000

/** A stored file. */
export interface StoredFile {
  sizeBytes: number
  /** Without quotes. */
  etag: string
  lastModified: Date
}

/** An object of a list. */
export interface ListedObject {
  key: string
  /** When the store took it, by the store's clock. */
  lastModified: Date
}

/** A small object, read whole. */
export interface StoredText {
  text: string
  /** Without quotes. */
  etag: string
}

/** Bytes of a file, both included, counted from 0. */
export interface ByteSpan {
  start: number
  end: number
}

/** Under which condition an object is written; none: always. */
export interface WriteCondition {
  ifAbsent?: boolean
  /** The ETag that it must have, without quotes. */
  ifMatch?: string
}

/** Which keys to list: at most `limit` (1000 at most) beyond the key `after`; `folders` gives what a slash ends. */
export interface ListKeys {
  after?: string | undefined
  limit?: number
  folders?: boolean
}

/** What a runner needs to store one file. */
export interface Upload {
  url: string
  headers: Record<string, string>
}

/** The bucket. Every method may be repeated, has a time limit, and throws what {@link StorageErrors} makes of a failure. */
export interface ObjectStorage {
  /** Makes the bucket when it is not there. */
  ensureBucket(): Promise<void>
  /** @throws also when the bucket is not there */
  check(): Promise<void>
  stat(key: string): Promise<StoredFile | undefined>
  /** Whether there is an object of that key. */
  exists(key: string): Promise<boolean>
  /** A small object; undefined when there is none. @throws also when it has more than `maxBytes`: see {@link isTooLarge} */
  read(key: string, maxBytes: number): Promise<StoredText | undefined>
  /** As {@link read}, without the ETag. */
  readText(key: string, maxBytes: number): Promise<string | undefined>
  /** A stream of a file or of a part of it; undefined when there is none. The only read without a byte limit: it is passed on, never kept. */
  open(key: string, span?: ByteSpan): Promise<Readable | undefined>
  /** The new ETag; undefined when the condition does not hold. */
  write(key: string, text: string, condition?: WriteCondition): Promise<string | undefined>
  /** Puts an empty object: its name is the message. */
  mark(key: string): Promise<void>
  /** Keys that begin with a prefix, in order: one page. */
  list(prefix: string, options?: ListKeys): Promise<string[]>
  /** As {@link list}, with the time at which each object was stored. */
  listObjects(prefix: string, options?: Omit<ListKeys, 'folders'>): Promise<ListedObject[]>
  remove(keys: readonly string[]): Promise<void>
  /** Removes every object whose key begins with `prefix`. */
  removePrefix(prefix: string): Promise<void>
  /** Copies one object inside the bucket; gives the ETag of the copy, undefined when there is no object with the ETag `etag`. */
  copy(copied: { from: string; etag: string; to: string }): Promise<string | undefined>
  /** A URL for one PUT of one new object. */
  presignPut(upload: { key: string; contentType: string; expiresAt: Date; now: Date }): Upload
}

/** Makes a program's own error of what went wrong. The cause stays its `cause`. */
export type StorageErrors = (what: string, cause: unknown) => Error

/** An object has more bytes than its reader takes. */
export class ObjectTooLargeError extends Error {
  override readonly name = 'ObjectTooLargeError'
  readonly key: string

  constructor(key: string, maxBytes: number) {
    super(`${key} has more than ${maxBytes} bytes`)
    this.key = key
  }
}

/** The store does not let us: it does not know our key, or the key has not the right. */
export class AccessRefusedError extends Error {
  override readonly name = 'AccessRefusedError'
}

/** Whether the store refused a call because of its key. */
export const isRefused = (error: unknown): boolean =>
  error instanceof AccessRefusedError || (error instanceof Error && error.cause instanceof AccessRefusedError)

/** Whether a read failed because of the object itself: repeating it cannot help. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof ObjectTooLargeError || (error instanceof Error && error.cause instanceof ObjectTooLargeError)
