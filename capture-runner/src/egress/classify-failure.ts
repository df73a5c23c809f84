// Turns a failed navigation into an error code and a message for the client. The guard's request log knows why a connection was not made. Only
// the browser knows what failed inside an allowed tunnel (TLS), by its net error code. The code compares these codes, never message texts.

import { portOf, toCanonicalHost } from '@tintype/crds/addresses/address-rules'
import type { JobErrorCode } from '@tintype/crds/schema/errors'
import type { RequestLog, RequestLogEntry } from './request-log.ts'

/** Error code of a failed record, and a message without addresses that a client must not learn. */
export interface Failure {
  code: JobErrorCode
  message: string
}

const MESSAGES: Record<string, string> = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'reset the connection',
  EPIPE: 'broke off the connection',
  ETIMEDOUT: 'did not answer in time',
  ENETUNREACH: 'cannot be reached from here',
  EHOSTUNREACH: 'cannot be reached from here',
  EADDRNOTAVAIL: 'cannot be reached from here',
}

/** How an established connection ended, by Chromium's net error code. */
const ENDS: Record<string, string> = {
  ERR_CONNECTION_RESET: 'reset the connection',
  ERR_CONNECTION_CLOSED: 'closed the connection',
  ERR_EMPTY_RESPONSE: 'closed the connection without a response',
}

const isFailed = (entry: RequestLogEntry): boolean => entry.decision === 'refused' || entry.decision === 'failed'

const toFailure = ({ code = 'NAVIGATION_FAILED', host, port, error, publicMessage }: RequestLogEntry): Failure => {
  const suffix = error === undefined ? '' : ` (${error})`
  switch (code) {
    case 'BLOCKED_ADDRESS':
    case 'URL_NOT_ALLOWED':
      return { code, message: publicMessage ?? `${host} is not open to captures` }
    case 'DNS_FAILED':
      return {
        code,
        message: `${host} ${error === 'ENOTFOUND' || error === 'ENODATA' ? 'does not resolve' : 'could not be resolved'}${suffix}`,
      }
    case 'PROXY_FAILED':
      return { code, message: `the proxy did not connect to ${host}:${port}` }
    default:
      return { code, message: `${host}:${port} ${MESSAGES[error ?? ''] ?? 'ended the connection'}${suffix}` }
  }
}

/** Maps Chromium's net error codes (without "net::") to job error codes. */
const byNetError = (netError: string): JobErrorCode => {
  if (/^ERR_(CERT|SSL|BAD_SSL|ECH|CERTIFICATE)_/.test(netError)) return 'TLS_ERROR'
  if (netError === 'ERR_TOO_MANY_REDIRECTS') return 'TOO_MANY_REDIRECTS'
  if (netError === 'ERR_NAME_NOT_RESOLVED') return 'DNS_FAILED'
  if (netError === 'ERR_TIMED_OUT') return 'TIMEOUT'
  return 'NAVIGATION_FAILED'
}

/**
 * @param url URL of the request that failed: after redirects the last one, not the first
 * @param netError Chromium's code such as `net::ERR_CERT_DATE_INVALID`, from `Network.loadingFailed` or the navigation's error
 */
export const classifyFailure = (requestLog: RequestLog, url: string, netError?: string): Failure => {
  if (requestLog.isExhausted) return { code: 'RESOURCE_LIMIT', message: 'the page used up the bytes that one capture may have' }
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const host = parsed && toCanonicalHost(parsed.hostname)
  const entry = requestLog.entries.findLast(
    (candidate) => parsed && candidate.port === portOf(parsed) && toCanonicalHost(candidate.host) === host,
  )
  if (entry && isFailed(entry)) return toFailure(entry)
  const error = netError?.replace(/^net::/, '')
  if (error === undefined) return { code: 'NAVIGATION_FAILED', message: `${host ?? 'the page'} could not be loaded` }
  return { code: byNetError(error), message: `${host ?? 'the page'} ${ENDS[error] ?? 'could not be loaded'} (${error})` }
}
