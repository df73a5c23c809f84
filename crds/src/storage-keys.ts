import { createdAtOf } from './ids.ts'

// Names of objects in the bucket. No key is ever read from a status: a runner could have written it.

/** Key of a picture: `users/<account>/<id>.<format>` (spec 2.3 storage_path). */
export const objectKey = (account: string, id: string, format: string): string => `users/${account}/${id}.${format}`

/** Prefix of every file of a screenshot. The dot keeps one id from being the prefix of another. */
export const objectKeyPrefix = (account: string, id: string): string => `users/${account}/${id}.`

const OBJECT_KEY = /^users\/([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)\/(scr_[0-7][0-9a-hjkmnp-tv-z]{25})\.([a-z0-9.]{1,32})$/

export interface ObjectKeyParts {
  account: string
  id: string
  /** What follows the id's dot: a format, or `thumb.png` and the like. */
  extension: string
}

/** Takes a key apart; undefined for text that {@link objectKey} cannot have made. */
export function parseObjectKey(key: string): ObjectKeyParts | undefined {
  const [, account, id, extension] = OBJECT_KEY.exec(key) ?? []
  return account && id && extension ? { account, id, extension } : undefined
}

/** Key that marks a screenshot as deleted, so that no cache or archive shows it again. Ordered by day, newest first, as records are. */
export function tombstoneKey(account: string, id: string): string {
  return `records/${account}/${invertedDay(createdAtOf(id))}/tombstones/${id}`
}

/** Key of the exact bytes of an event whose first post failed, for the attempts that follow. */
export const eventKey = (eventId: string): string => `events/${eventId}.json`

const LAST_DAY = 99_999
const DAY_MILLISECONDS = 86_400_000

/** Days until a far end, five digits: later days sort first. */
export const invertedDay = (at: Date): string => String(LAST_DAY - Math.floor(at.getTime() / DAY_MILLISECONDS)).padStart(5, '0')
