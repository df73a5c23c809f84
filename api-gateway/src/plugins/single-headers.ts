import type { FastifyInstance } from 'fastify'
import { invalid } from '../common/errors.ts'

/** Headers that a request has at most once, and how several look after a proxy has joined them. */
const SINGLE: ReadonlyMap<string, RegExp> = new Map([
  ['host', /,/],
  ['authorization', /^bearer\b.*,/i],
])

/** The name of a header that must not be repeated, and is. `rawHeaders` has names and values in turn. */
function findRepeated(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    const joined = SINGLE.get(name.toLowerCase())
    if (joined && (seen.has(name.toLowerCase()) || joined.test(rawHeaders[index + 1] ?? ''))) return name
    if (joined) seen.add(name.toLowerCase())
  }
  return undefined
}

/** Refuses repeated headers. Node.js reads the first one, and a proxy may have checked another. */
export function addSingleHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw: { rawHeaders } }, _, done) => {
    const name = findRepeated(rawHeaders)
    if (name === undefined) return done()
    done(invalid([{ path: '', code: 'duplicate', message: `the request has more than one header ${name}: send one` }]))
  })
}
