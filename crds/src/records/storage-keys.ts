import { createdAtOf, isScreenshotId, newId } from '../identifiers/ids.ts'

// Names of objects in the bucket. No key is ever read from a status: a runner could have written it.

/** Key of a picture: `users/<account>/<id>.<format>` (spec 2.3 storage_path). */
export const objectKey = (account: string, id: string, format: string): string => `users/${account}/${id}.${format}`

const ACCOUNT_NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

/** True for what may be the name of an account. */
export const isAccountName = (text: string): boolean => ACCOUNT_NAME.test(text)

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

/** The day of an id, as keys carry it: UTC, later days first. */
export const dayOf = (id: string): string => invertedDay(createdAtOf(id))

/** Prefix of all that is kept of an account's records; the next part of a key is a day ({@link dayOf}). */
export const recordsPrefix = (account: string): string => `records/${account}/`

/** Prefix of what is kept of the records that were created on one day. */
export const dayPrefix = (account: string, day: string): string => `${recordsPrefix(account)}${day}/`

/** Key that marks a screenshot as deleted, so that no cache or archive shows it again. Ordered by day, newest first, as records are. */
export const tombstoneKey = (account: string, id: string): string => tombstonesPrefix(account, dayOf(id)) + id

/** Prefix of the marks of a day's deleted records; an id follows. */
export const tombstonesPrefix = (account: string, day: string): string => `${dayPrefix(account, day)}tombstones/`

/** Key of one archived record, for who asks by id. */
export const recordKey = (account: string, id: string): string => `${dayPrefix(account, dayOf(id))}one/${id}.json`

const RECORD_KEY = /^records\/([a-z0-9-]{1,63})\/(\d{5})\/one\/(scr_[0-7][0-9a-hjkmnp-tv-z]{25})\.json$/

/** Takes the key of one archived record apart; undefined for other text, also when its day is not that of its id. */
export function parseRecordKey(key: string): { account: string; id: string } | undefined {
  const [, account, day, id] = RECORD_KEY.exec(key) ?? []
  return account && id && dayOf(id) === day ? { account, id } : undefined
}

const TOMBSTONE_KEY = /^records\/([a-z0-9-]{1,63})\/(\d{5})\/tombstones\/(scr_[0-7][0-9a-hjkmnp-tv-z]{25})$/

/** Takes the key of a deletion's mark apart; undefined for other text, also when its day is not that of its id. */
export function parseTombstoneKey(key: string): { account: string; id: string } | undefined {
  const [, account, day, id] = TOMBSTONE_KEY.exec(key) ?? []
  return account && id && dayOf(id) === day ? { account, id } : undefined
}

/** Prefix of the archived records of a day, many to an object, for lists; {@link import('./archive.ts')} names them. */
export const segmentsPrefix = (account: string, day: string): string => `${dayPrefix(account, day)}segments/`

/** Key of the ids of a batch. */
export const batchKey = (account: string, batchId: string): string => `batches/${account}/${batchId}.json`

/** Prefix of the marks of days whose segments are to be written anew. */
export const REWRITES_PREFIX = 'rewrites/'

/** Key of the mark that a day's segments are to be written anew: without the record of that id, or joined, if `what` is {@link JOIN}. */
export const rewriteKey = (account: string, day: string, what: string): string => `${REWRITES_PREFIX}${account}/${day}/${what}`

/** See {@link rewriteKey}. */
export const JOIN = 'join'

const REWRITE_KEY = /^rewrites\/([a-z0-9-]{1,63})\/(\d{5})\/([a-z0-9_]{1,64})$/

/** Takes the key of such a mark apart; undefined for other text, also when its day is not that of its id. */
export function parseRewriteKey(key: string): { account: string; day: string; what: string } | undefined {
  const [, account, day, what] = REWRITE_KEY.exec(key) ?? []
  if (!account || !day || !what || !isAccountName(account)) return undefined
  return what === JOIN || (isScreenshotId(what) && dayOf(what) === day) ? { account, day, what } : undefined
}

/** Prefix of the marks of files that go before their plan says so, in the order in which they go. */
export const EXPIRIES_PREFIX = 'expiries/'

const SECONDS_DIGITS = 10

/** Key of the mark that the files of a screenshot go at an instant. */
export const expiryKey = (account: string, id: string, at: Date): string =>
  `${EXPIRIES_PREFIX}${String(Math.ceil(at.getTime() / 1_000)).padStart(SECONDS_DIGITS, '0')}/${account}/${id}`

const EXPIRY_KEY = /^expiries\/(\d{10})\/([a-z0-9-]{1,63})\/(scr_[0-7][0-9a-hjkmnp-tv-z]{25})$/

/** Takes the key of such a mark apart; undefined for other text. */
export function parseExpiryKey(key: string): { at: Date; account: string; id: string } | undefined {
  const [, seconds, account, id] = EXPIRY_KEY.exec(key) ?? []
  return seconds && account && id && isAccountName(account) ? { at: new Date(Number(seconds) * 1_000), account, id } : undefined
}

/** Prefix of the marks of accounts that are gone; a name follows. */
export const GONE_PREFIX = 'gone/'

/** Key of the mark that an account is gone; its text is since when. */
export const goneKey = (account: string): string => GONE_PREFIX + account

/** Key of the exact bytes of an event whose first post failed, for the attempts that follow. */
export const eventKey = (eventId: string): string => `events/${eventId}.json`

/** Key of what is known of the newest picture of a request; `hash` stands for the request. */
export const cacheEntryKey = (account: string, hash: string): string => `cache/${account}/${hash}.json`

/** Key of options that are too long for an object, sealed. `subject` is the name of a Screenshot, or the id of the batch that shares them. */
export const optionsKey = (account: string, subject: string): string => `options/${account}/${subject}.jwe`

const LAST_DAY = 99_999
const DAY_MILLISECONDS = 86_400_000

const DAY_DIGITS = 5
const DAY = /^\d{5}$/

/** True for a day as keys carry it. */
export const isDay = (text: string): boolean => DAY.test(text)

const FAR_DAY = /^0{0,3}-[1-9]\d{0,6}$/

/** True for a day after the year 2243, for which {@link invertedDay} gives a negative number. Only ids with a time of somebody's choice have one. */
export const isFarDay = (text: string): boolean => text.length >= DAY_DIGITS && FAR_DAY.test(text)

/** The instant at which a day of {@link invertedDay} begins. */
export const startOfDay = (day: string): Date => new Date((LAST_DAY - Number(day)) * DAY_MILLISECONDS)

const FIRST_TAIL = Buffer.alloc(10)
const LAST_TAIL = Buffer.alloc(10, 0xff)

/** Returns a predicate for ids of a day. Callers test many ids of the same day. */
export function idsOfDay(day: string): (text: string) => boolean {
  const start = startOfDay(day).getTime()
  const first = newId('scr', new Date(start + DAY_MILLISECONDS - 1), FIRST_TAIL)
  const last = newId('scr', new Date(start), LAST_TAIL)
  return (text) => isScreenshotId(text) && text >= first && text <= last
}

/** Days until a far end, five digits: later days sort first. */
export const invertedDay = (at: Date): string => String(LAST_DAY - Math.floor(at.getTime() / DAY_MILLISECONDS)).padStart(DAY_DIGITS, '0')
