import { BlockedAddressError, UnresolvedError } from './guarded-agent.ts'
import { ProxyError } from './tunnel.ts'

/** Why no answer came: a closed set, fit for a metric. */
export type PostFailure = 'timeout' | 'blocked' | 'unresolved' | 'tls' | 'proxy' | 'connection'

/** Codes of OpenSSL's and Node's checks of a certificate. */
const TLS_CODE = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/

const codeOf = (error: unknown): string => {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : ''
}

/** The first error of several (happy eyeballs dials more than one address), else the error itself. */
const firstOf = (error: unknown): unknown => (error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error)

/** Classifies what the HTTP client threw: this is the edge that knows its errors. */
export function toPostFailure(thrown: unknown): { end: PostFailure; detail: string } {
  const error = firstOf(thrown)
  const code = codeOf(error)
  if (error instanceof BlockedAddressError) return { end: 'blocked', detail: error.message }
  if (error instanceof ProxyError) return { end: 'proxy', detail: error.message }
  if (error instanceof UnresolvedError) return { end: 'unresolved', detail: error.message }
  if (isNamed(error, 'TimeoutError') || code === 'UND_ERR_CONNECT_TIMEOUT') return { end: 'timeout', detail: 'no answer in time' }
  if (TLS_CODE.test(code)) return { end: 'tls', detail: code }
  return { end: 'connection', detail: code || 'the connection failed' }
}

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name
