// Dates in HTTP headers (RFC 9110, section 5.6.7).

const TIME = String.raw`\d{2}:\d{2}:\d{2}`
const CURRENT = new RegExp(String.raw`^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} ${TIME} GMT$`)
const RFC_850 = new RegExp(String.raw`^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} ${TIME} GMT$`)
/** Without a zone, but always UTC. */
const ASCTIME = new RegExp(String.raw`^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d ${TIME} \d{4}$`)

/** Parses a date in the current format or one of the two old formats. Returns undefined for other texts. */
export function parseHttpDate(text: string): Date | undefined {
  const given = text.trim()
  if (!CURRENT.test(given) && !RFC_850.test(given) && !ASCTIME.test(given)) return undefined
  const date = new Date(ASCTIME.test(given) ? `${given} GMT` : given)
  return Number.isNaN(date.getTime()) ? undefined : date
}

/** True if an object has not changed since the date of an If-Modified-Since header. HTTP dates have no fractions of a second. */
export function isUnchangedSince(lastModified: Date, header: string | undefined): boolean {
  const since = header === undefined ? undefined : parseHttpDate(header)
  return since !== undefined && Math.floor(lastModified.getTime() / 1_000) * 1_000 <= since.getTime()
}
