// What a store says about a presigned request. Runners read it, which have no client of the store.

/** S3 gives an object of one PUT its MD5 hash as ETag. */
export const ETAG_HASH = 'md5'

/** The ETag of a response, without quotes. Empty: the response has none. */
export const etagOf = ({ etag }: { etag?: string | string[] | undefined }): string => String(etag ?? '').replaceAll('"', '')

/** True if a condition of the request is not met: the object exists already, or has another ETag. */
export const isConditionUnmet = (status: number): boolean => status === 412

/** True if there is no such object, or no longer one with the ETag of the request. */
export const isMissing = (status: number): boolean => status === 404 || status === 410 || isConditionUnmet(status)

const REPEATABLE = new Set([408, 429, 500, 502, 503, 504, 507])

/** True if the same request may succeed later. */
export const isRepeatable = (status: number): boolean => REPEATABLE.has(status)
