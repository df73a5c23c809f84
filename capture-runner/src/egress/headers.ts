// Selects the header lines that the guard forwards. Lists have the form of Node's `rawHeaders`: name, value, name, value, in the sender's order.

import { validateHeaderName, validateHeaderValue } from 'node:http'

/** Hop-by-hop headers (RFC 9110, 7.6.1) and proxy headers. A page must not detect the guard or imitate a proxy. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

type Line = [name: string, value: string]

const toLines = (raw: readonly string[]): Line[] =>
  Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i] as string, raw[2 * i + 1] as string])

const namedByConnection = (lines: Line[]): Set<string> =>
  new Set(
    lines
      .filter(([name]) => name.toLowerCase() === 'connection')
      .flatMap(([, value]) => value.split(','))
      .map((name) => name.trim().toLowerCase()),
  )

const isWritable = ([name, value]: Line): boolean => {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}

/** The lines to forward. Drops lines that are not valid headers, so that no value turns into a second line. */
export const endToEnd = (raw: readonly string[]): string[] => {
  const lines = toLines(raw)
  const named = namedByConnection(lines)
  return lines.filter((line) => !HOP_BY_HOP.has(line[0].toLowerCase()) && !named.has(line[0].toLowerCase()) && isWritable(line)).flat()
}

/** The same lines, with `Host` set from the connection's target, since only that target was checked (RFC 9112, 3.2.2). */
export const withHost = (raw: readonly string[], host: string): string[] => {
  const others = toLines(raw).filter(([name]) => name.toLowerCase() !== 'host')
  return ['Host', host, ...others.flat()]
}
