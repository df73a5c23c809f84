// Which header lines cross the guard. Lists are node's `rawHeaders`: name, value, name, value; order and spelling are the sender's.

import { validateHeaderName, validateHeaderValue } from 'node:http'

/** Lines between two neighbours (RFC 9110, 7.6.1), and those of proxies: a page must not see the guard, nor play one. */
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

/** The lines that go on to the other side. What could not be written as a header line is left out, so that no value becomes a second line. */
export const endToEnd = (raw: readonly string[]): string[] => {
  const lines = toLines(raw)
  const named = namedByConnection(lines)
  return lines.filter((line) => !HOP_BY_HOP.has(line[0].toLowerCase()) && !named.has(line[0].toLowerCase()) && isWritable(line)).flat()
}

/** The same with `Host` made from the request's own target, which alone was judged (RFC 9112, 3.2.2). */
export const withHost = (raw: readonly string[], host: string): string[] => {
  const others = toLines(raw).filter(([name]) => name.toLowerCase() !== 'host')
  return ['Host', host, ...others.flat()]
}
