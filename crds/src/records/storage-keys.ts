import { createHash } from 'node:crypto'
import { createdAtOf, isScreenshotId } from '../identifiers/ids.ts'

// Keys of objects in the bucket. A key is never read from a status, because a runner can write the status.

/** Key of a picture, and storage_path of its record: `users/<account>/<id>.<format>`. */
export const objectKey = (account: string, id: string, format: string): string => `users/${account}/${id}.${format}`

const ACCOUNT_NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

/** True for a valid account name. */
export const isAccountName = (text: string): boolean => ACCOUNT_NAME.test(text)

/** Prefix of the files of an account. */
export const objectsPrefix = (account: string): string => `users/${account}/`

/** Prefix of every file of a screenshot. The dot prevents matches with longer ids. */
export const objectKeyPrefix = (account: string, id: string): string => `users/${account}/${id}.`

const OBJECT_KEY = /^users\/([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)\/(scr_[0-7][0-9a-hjkmnp-tv-z]{25})\.([a-z0-9.]{1,32})$/

export interface ObjectKeyParts {
  account: string
  id: string
  /** The part after the id and the dot, such as `png` or `thumb.png`. */
  extension: string
}

/** Parses a key of {@link objectKey}; undefined for other text. */
export function parseObjectKey(key: string): ObjectKeyParts | undefined {
  const [, account, id, extension] = OBJECT_KEY.exec(key) ?? []
  return account && id && extension ? { account, id, extension } : undefined
}

/** Prefix of the pictures of the schedules of an account. A schedule's uid follows. */
export const baselinesPrefix = (account: string): string => `baselines/${account}/`

/** Prefix of the pictures of one schedule. */
export const scheduleBaselinesPrefix = (account: string, scheduleUid: string): string => `${baselinesPrefix(account)}${scheduleUid}/`

/** Key of the copy of the picture of a run, with which later runs are compared. */
export const baselineKey = (account: string, scheduleUid: string, id: string): string => scheduleBaselinesPrefix(account, scheduleUid) + id

/** The UTC day of an id, as keys contain it. Later days sort first. */
export const dayOf = (id: string): string => invertedDay(createdAtOf(id))

/** Prefix of an account's archived records. The next part of a key is a day ({@link dayOf}). */
export const recordsPrefix = (account: string): string => `records/${account}/`

/** Prefix of the archived records that were created on one day. */
export const dayPrefix = (account: string, day: string): string => `${recordsPrefix(account)}${day}/`

/** Key of the tombstone of a deleted screenshot, which hides it from caches and archives. Sorted by day, newest first, like records. */
export const tombstoneKey = (account: string, id: string): string => tombstonesPrefix(account, dayOf(id)) + id

/** Prefix of the tombstones of a day; an id follows. */
export const tombstonesPrefix = (account: string, day: string): string => `${dayPrefix(account, day)}tombstones/`

/** Key of one archived record, for reads by id. */
export const recordKey = (account: string, id: string): string => `${dayPrefix(account, dayOf(id))}one/${id}.json`

/** The account and the screenshot in a key. */
export interface RecordPlace {
  account: string
  id: string
}

/** Returns a parser for keys that begin with an account, a day and an id of that day. It returns undefined for other text. */
const parserOfDay =
  (pattern: RegExp) =>
  (key: string): RecordPlace | undefined => {
    const [, account, day, id] = pattern.exec(key) ?? []
    return account && id && dayOf(id) === day ? { account, id } : undefined
  }

/** Parses the key of one archived record. */
export const parseRecordKey = parserOfDay(/^records\/([a-z0-9-]{1,63})\/(\d{5})\/one\/(scr_[0-7][0-9a-hjkmnp-tv-z]{25})\.json$/)

/** Parses the key of a tombstone. */
export const parseTombstoneKey = parserOfDay(/^records\/([a-z0-9-]{1,63})\/(\d{5})\/tombstones\/(scr_[0-7][0-9a-hjkmnp-tv-z]{25})$/)

/** Prefix of the segments of a day, for lists. */
export const segmentsPrefix = (account: string, day: string): string => `${dayPrefix(account, day)}segments/`

/** Maximum records of one segment. */
export const MAX_SEGMENT_RECORDS = 1_000

/** The facts in the key of a segment: the range and the number of its ids. */
export interface SegmentName {
  key: string
  /** The smallest id: the newest record. */
  first: string
  last: string
  count: number
}

/** Key of a segment. `digest` is that of its text. */
export const segmentKey = (account: string, { first, last, count }: Omit<SegmentName, 'key'>, digest: string): string =>
  `${segmentsPrefix(account, dayOf(first))}${first}.${last}.${count}.${digest}.ndjson`

const SEGMENT_NAME =
  /^records\/[a-z0-9-]{1,63}\/(\d{5})\/segments\/(scr_[0-9a-z]{26})\.(scr_[0-9a-z]{26})\.([1-9]\d{0,3})\.[0-9a-f]{12}\.ndjson$/

/** Parses the key of a segment. Returns undefined for other keys, and for a key whose day does not match its ids. */
export function parseSegmentKey(key: string): SegmentName | undefined {
  const [, day, first = '', last = '', count] = SEGMENT_NAME.exec(key) ?? []
  const isInDay = isScreenshotId(first) && isScreenshotId(last) && first <= last && dayOf(first) === day && dayOf(last) === day
  return isInDay && Number(count) <= MAX_SEGMENT_RECORDS ? { key, first, last, count: Number(count) } : undefined
}

/** Stores keep a part of a key as a file name, which has at most 255 bytes. */
const MAX_PART_LENGTH = 255

/** The last part of a key, from an object's name. A hash replaces a name that is too long; names have no `_`. */
function namePart(name: string, extension: string): string {
  if (name.length + extension.length <= MAX_PART_LENGTH) return name + extension
  return `_${createHash('sha256').update(name).digest('hex')}${extension}`
}

/** Key of the last archived record of a Screenshot whose name a person chose. */
export const namedRecordKey = (account: string, name: string): string => `names/${account}/${namePart(name, '.json')}`

/** Key of the ids of a batch. */
export const batchKey = (account: string, batchId: string): string => `batches/${account}/${batchId}.json`

/** Prefix of the markers of an account's days. */
export const rewritesPrefix = (account: string): string => `rewrites/${account}/`

/** Key of the marker that a day's segments must be rewritten: without the record whose id is `what`, or merged if `what` is {@link JOIN}. */
export const rewriteKey = (account: string, day: string, what: string): string => `${rewritesPrefix(account)}${day}/${what}`

/** See {@link rewriteKey}. */
export const JOIN = 'join'

const REWRITE_KEY = /^rewrites\/([a-z0-9-]{1,63})\/(\d{5})\/([a-z0-9_]{1,64})$/

/** Parses a key of {@link rewriteKey}; undefined for other text, and if the day does not match the id. */
export function parseRewriteKey(key: string): { account: string; day: string; what: string } | undefined {
  const [, account, day, what] = REWRITE_KEY.exec(key) ?? []
  if (!account || !day || !what || !isAccountName(account)) return undefined
  return what === JOIN || (isScreenshotId(what) && dayOf(what) === day) ? { account, day, what } : undefined
}

const SECONDS_DIGITS = 10

/** A time in seconds, rounded up, so that earlier times sort first. */
const secondsOf = (at: Date): string => String(Math.ceil(at.getTime() / 1_000)).padStart(SECONDS_DIGITS, '0')

/** Key of the marker that the files of a screenshot expire at `at`, before the retention of their plan ends. Sorted by expiry. */
export const expiryKey = (account: string, id: string, at: Date): string => `expiries/${secondsOf(at)}/${account}/${id}`

const EXPIRY_KEY = /^expiries\/(\d{10})\/([a-z0-9-]{1,63})\/(scr_[0-7][0-9a-hjkmnp-tv-z]{25})$/

/** Parses a key of {@link expiryKey}; undefined for other text. */
export function parseExpiryKey(key: string): { at: Date; account: string; id: string } | undefined {
  const [, seconds, account, id] = EXPIRY_KEY.exec(key) ?? []
  return seconds && account && id && isAccountName(account) ? { at: new Date(Number(seconds) * 1_000), account, id } : undefined
}

/** Key of the marker of a deleted account. Its text is the time of the deletion. */
export const deletedAccountKey = (account: string): string => `gone/${account}`

/** Parses a key of {@link deletedAccountKey}: the name of the account; undefined for other text. */
export function parseDeletedAccountKey(key: string): string | undefined {
  const account = key.slice('gone/'.length)
  return key === deletedAccountKey(account) && isAccountName(account) ? account : undefined
}

/** Key of the plan of a request with an Idempotency-Key. `hash` identifies that key. */
export const idempotencyKey = (account: string, hash: string): string => `idempotency/${account}/${hash}.json`

/** Key of the plan of the capture on which all requests for a picture wait. `hash` identifies the picture. */
export const sharedCaptureKey = (account: string, hash: string): string => `idempotency/${account}/flight-${hash}.json`

/** Key of the marker that a sign-in link of the console was used. */
export const signInKey = (account: string, nonce: string): string => `idempotency/${account}/console-${nonce}.json`

/** Key of the exact bytes of an event whose first post failed, for its retries. */
export const eventKey = (eventId: string): string => `events/${eventId}.json`

/** Key of the cache entry of a request; `hash` identifies the request. */
export const cacheEntryKey = (account: string, hash: string): string => `cache/${account}/${hash}.json`

/** Key of encrypted options that are too long for an object. `subject` is the name of a Screenshot, or the id of the batch that shares them. */
export const optionsKey = (account: string, subject: string): string => `options/${account}/${subject}.jwe`

/** Prefix of the ended runs of a schedule; an id follows. Newest first, like records. */
export const runsPrefix = (account: string, scheduleUid: string): string => `runs/${account}/${scheduleUid}/`

/** Key of an ended run of a schedule. */
export const runKey = (account: string, scheduleUid: string, id: string): string => runsPrefix(account, scheduleUid) + id

const RUN_KEY = /^runs\/[a-z0-9-]{1,63}\/[^/]{1,128}\/(scr_[0-7][0-9a-hjkmnp-tv-z]{25})$/

/** Parses a key of {@link runKey}: the id of the run; undefined for other text. */
export const parseRunKey = (key: string): string | undefined => RUN_KEY.exec(key)?.[1]

/** Key of encrypted options of a schedule that are too long for an object; `name` is that of the schedule. */
export const scheduleOptionsKey = (account: string, name: string): string => `schedules/${account}/${namePart(name, '.jwe')}`

/** Prefix of an endpoint's delivery log. */
export const logPrefix = (account: string, webhookId: string): string => `deliveries/${account}/${webhookId}/`

const LOG_END = 9_999_999_999_999
const LOG_DIGITS = 13

/** Key of lines of a delivery log that are written at `at`. Newest first. */
export const logKey = (prefix: string, at: Date, lines: number, nonce: string): string =>
  `${prefix}${String(LOG_END - at.getTime()).padStart(LOG_DIGITS, '0')}-${lines}-${nonce}.ndjson`

const LOG_KEY = /^deliveries\/[a-z0-9-]{1,63}\/[^/]{1,64}\/(\d{13})-([1-9]\d{0,3})-[0-9a-z]{1,64}\.ndjson$/

/** Parses a key of {@link logKey}: the time at which the lines were written, and their number; undefined for other text. */
export function parseLogKey(key: string): { at: Date; lines: number } | undefined {
  const [, inverted, lines] = LOG_KEY.exec(key) ?? []
  return inverted && lines ? { at: new Date(LOG_END - Number(inverted)), lines: Number(lines) } : undefined
}

/** Prefix of the open deliveries of archived records; an account and an endpoint follow. */
export const OPEN_PREFIX = 'undelivered/open/'

/** Key of an open delivery. Sorted by the time at which its next attempt is due. */
export const openDeliveryKey = (account: string, endpoint: string, at: Date, delivery: string): string =>
  `${OPEN_PREFIX}${account}/${endpoint}/${secondsOf(at)}.${delivery}`

const OPEN_KEY = /^(undelivered\/open\/([a-z0-9-]{1,63})\/[a-z0-9._-]{1,253}\/)(\d{10})\.dlv_[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** Parses a key of {@link openDeliveryKey}; undefined for other text. */
export function parseOpenKey(key: string): { prefix: string; account: string; at: Date } | undefined {
  const [, prefix, account, seconds] = OPEN_KEY.exec(key) ?? []
  return prefix && account && seconds && isAccountName(account) ? { prefix, account, at: new Date(Number(seconds) * 1_000) } : undefined
}

/** Prefix of the missed deliveries of a Webhook. */
export const missedPrefix = (account: string, webhookId: string): string => `undelivered/missed/${account}/${webhookId}/`

/** Key of a missed delivery. */
export const missedKey = (account: string, webhookId: string, delivery: string): string => missedPrefix(account, webhookId) + delivery

const LAST_DAY = 99_999
const DAY_MILLISECONDS = 86_400_000

const DAY_DIGITS = 5
const DAY = /^\d{5}$/

/** True for a day as keys contain it. */
export const isDay = (text: string): boolean => DAY.test(text)

const FAR_DAY = /^0{0,3}-[1-9]\d{0,6}$/

/** True for a day after the year 2243, for which {@link invertedDay} gives a negative number. Only forged ids have such a day. */
export const isFarDay = (text: string): boolean => text.length >= DAY_DIGITS && FAR_DAY.test(text)

/** The start of a day of {@link invertedDay}. */
export const startOfDay = (day: string): Date => new Date((LAST_DAY - Number(day)) * DAY_MILLISECONDS)

/** Days until a date in the year 2243, with five digits, so that later days sort first. */
export const invertedDay = (at: Date): string => String(LAST_DAY - Math.floor(at.getTime() / DAY_MILLISECONDS)).padStart(DAY_DIGITS, '0')
