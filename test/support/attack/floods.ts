// Responses that never end. Each attacks another part of an HTTP/1.1 client. `more` repeats for as long as the client reads.

/** A response that never ends. */
export interface Flood {
  /** Sent once. */
  start: string
  more: string
  /** Sends one byte of `more` at a time, with this delay between them. Absent: as fast as the client reads. */
  dripMilliseconds?: number
  /** Sends each `more` in a TLS record of its own. Absent: records have 16 KiB. */
  hasSmallRecords?: true
}

const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`

/** Floods before the headers of the response are complete. */
export const FLOODS_BEFORE_RESPONSE = {
  'interim-102': { start: '', more: 'HTTP/1.1 102 P\r\n\r\n' },
  'interim-103': { start: '', more: `HTTP/1.1 103 Early Hints\r\n${`link: <${'y'.repeat(100)}>\r\n`.repeat(40)}\r\n` },
  'interim-103-headers': { start: '', more: `HTTP/1.1 103 E\r\n${'a:\r\n'.repeat(1_000)}\r\n` },
  reason: { start: 'HTTP/1.1 200 ', more: 'x' },
  'one-header': { start: `${OK}x-more: `, more: 'y' },
  'many-headers': { start: OK, more: 'a: b\r\n' },
  'empty-headers': { start: OK, more: 'a:\r\n' },
  'small-records': { start: OK, more: 'a', hasSmallRecords: true },
} as const satisfies Record<string, Flood>

/** Floods after the headers of a 200. They send no body, or hardly any. */
export const FLOODS_AFTER_HEADERS = {
  'chunk-extension': { start: `${CHUNKED}1;`, more: 'x=y;' },
  'chunk-extensions': { start: CHUNKED, more: `1;${'x'.repeat(1_000)}\r\ny\r\n` },
  'chunk-size': { start: CHUNKED, more: '0' },
  'tiny-chunks': { start: CHUNKED, more: '1\r\nx\r\n' },
  trailers: { start: `${CHUNKED}0\r\n`, more: 'a: b\r\n' },
  trailer: { start: `${CHUNKED}0\r\nx-more: `, more: 'y' },
} as const satisfies Record<string, Flood>

/** Floods after a response that is complete, or whose body is. */
export const FLOODS_AFTER_RESPONSE = {
  body: { start: `${OK}\r\n`, more: 'x' },
  'chunked-body': { start: CHUNKED, more: `400\r\n${'x'.repeat(0x400)}\r\n` },
  'body-after-204': { start: 'HTTP/1.1 204 No Content\r\n\r\n', more: 'x' },
  'further-responses': { start: `${OK}content-length: 0\r\n\r\n`, more: `${OK}content-length: 0\r\n\r\n` },
} as const satisfies Record<string, Flood>

/** Responses that send a byte at a time. */
export const DRIPS = {
  'dripped-reason': { start: 'HTTP/1.1 200 ', more: 'x', dripMilliseconds: 20 },
  'dripped-interim': { start: '', more: 'HTTP/1.1 102 P\r\n\r\n', dripMilliseconds: 20 },
  'dripped-headers': { start: OK, more: 'x-more: y\r\n', dripMilliseconds: 20 },
} as const satisfies Record<string, Flood>

/** All floods by the path that requests them. */
export const FLOODS: Readonly<Record<string, Flood>> = {
  ...FLOODS_BEFORE_RESPONSE,
  ...FLOODS_AFTER_HEADERS,
  ...FLOODS_AFTER_RESPONSE,
  ...DRIPS,
}
