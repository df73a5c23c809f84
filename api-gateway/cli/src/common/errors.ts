import { toPeopleMessage } from '../../../client/src/common/people-remedies.ts'
import { CaptureFailedError, TintypeError } from '../../../client/src/index.ts'

/** Exit codes. `tintype --help` lists them. */
export const EXIT = { ok: 0, failed: 1, usage: 2, unreachable: 3, interrupted: 130 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** An error with its exit code. The message says what is wrong, then what to do. */
export class CliError extends Error {
  override name = 'CliError'
  readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode = EXIT.failed, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}

/** The command line is wrong. */
export class UsageError extends CliError {
  override name = 'UsageError'

  constructor(message: string) {
    super(message, EXIT.usage)
  }
}

/** Reason of the signal that SIGINT and SIGTERM fire. */
export class Interrupted extends CliError {
  override name = 'Interrupted'

  constructor() {
    super('interrupted', EXIT.interrupted)
  }
}

const WRONG_USAGE = new Set(['VALIDATION_ERROR', 'URL_NOT_ALLOWED', 'OPTION_NOT_ALLOWED'])
const UNREACHABLE = new Set([
  'CONNECTION_FAILED',
  'REQUEST_TIMEOUT',
  'INVALID_RESPONSE',
  'INVALID_CONFIGURATION',
  'UNAUTHORIZED',
  'INVALID_API_KEY',
  'INSUFFICIENT_SCOPE',
  'ACCOUNT_SUSPENDED',
])
const DOCTOR = 'Run `tintype doctor` to find the cause.'

/** Spells option names as flags: `options.full_page` → `--full-page`. A flag has no value that removes it; `--reset` does. */
const toFlagNames = (message: string): string =>
  message
    .replaceAll(/\boptions\.([a-z]+(?:_[a-z]+)*)/g, (_, name: string) => `--${name.replaceAll('_', '-')}`)
    .replace('or null for what', 'or --reset what')

/** The client speaks to programmers. This says the same to a person at a terminal. */
function toSentence(error: TintypeError, server: string | undefined): string {
  const { code, message, details } = error
  const id = details !== undefined && 'id' in details ? String(details.id) : 'ID'
  const place = server ?? 'the service'
  switch (code) {
    case 'CONNECTION_FAILED':
      return server !== undefined && URL.canParse(server)
        ? `cannot reach ${server}: ${explainConnection(error, new URL(server))}`
        : `cannot reach the service. ${DOCTOR}`
    case 'REQUEST_TIMEOUT':
      return `${place} sent no response in time. ${DOCTOR}`
    case 'INVALID_RESPONSE':
      return `${place} does not respond like Tintype${error.status === undefined ? '' : ` (HTTP ${error.status})`}. ${DOCTOR}`
    case 'INVALID_CONFIGURATION':
      return message.replaceAll('baseUrl', 'the URL of the service').replaceAll('apiKey', 'the API key')
    case 'WAIT_TIMEOUT':
      return `the capture of ${id} has not ended yet. Run \`tintype watch ${id}\` to keep waiting, or raise --wait-timeout.`
    case 'FILE_NOT_AVAILABLE':
      return message.replace(/Call screenshots\.wait.*$/, `Run \`tintype watch ${id}\` first.`)
    case 'UNAUTHORIZED':
    case 'INVALID_API_KEY':
      return `${place} refuses the API key: it is unknown, inactive, expired or deleted. Set another one in TINTYPE_API_KEY, or with \`tintype config set URL -\`.`
    case 'INSUFFICIENT_SCOPE':
      return `${message.split('. ')[0]}. Use an API key that has this scope.`
    default:
      return toFlagNames(toPeopleMessage(message, code, error))
  }
}

/** One readable line and the exit code for any error. */
export function toReport(error: unknown, server?: string): { message: string; exitCode: ExitCode } {
  if (error instanceof CliError) return { message: error.message, exitCode: error.exitCode }
  if (error instanceof CaptureFailedError) return { message: toFlagNames(error.message), exitCode: EXIT.failed }
  if (error instanceof TintypeError) {
    const exitCode = WRONG_USAGE.has(error.code) ? EXIT.usage : UNREACHABLE.has(error.code) ? EXIT.unreachable : EXIT.failed
    const id = error.requestId === undefined || exitCode !== EXIT.failed ? '' : ` (request ${error.requestId})`
    return { message: toSentence(error, server) + id, exitCode }
  }
  return { message: error instanceof Error ? error.message : String(error), exitCode: EXIT.failed }
}

/** The first error code of the system in a chain of causes: `ENOTFOUND`. */
export function systemCodeOf(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    const { code } = current as NodeJS.ErrnoException
    if (code !== undefined && !(current instanceof TintypeError)) return code
    // Node.js 26 gives this error no code.
    if (current.name === 'HTTPParserError') return 'HPE_INVALID'
  }
  return undefined
}

function messageOf(error: unknown): string {
  let message = String(error)
  for (let current = error; current instanceof Error; current = current.cause) message = current.message || message
  return message
}

const SILENT = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'UND_ERR_CONNECT_TIMEOUT'])
const isTlsError = (code: string): boolean => /CERT|SELF_SIGNED|UNABLE_TO_|TLS|SSL|EPROTO/.test(code)

/** Why no HTTP response came, and what to do. */
export function explainConnection(error: unknown, server: URL): string {
  const code = systemCodeOf(error) ?? ''
  const other = server.protocol === 'https:' ? 'http' : 'https'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `the name ${server.hostname} does not resolve. Check the spelling of the URL, and your DNS or VPN.`
  }
  if (code === 'ECONNREFUSED') {
    return `nothing accepts connections at ${server.host}. Check the port, and that the service or the port-forward runs.`
  }
  if (SILENT.has(code)) return `${server.host} does not respond. Check the host and the port, firewalls and your VPN.`
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return `${server.host} does not speak TLS. Use a URL that begins with http://.`
  }
  if (code === 'CERT_HAS_EXPIRED') return `the TLS certificate of ${server.host} has expired. Renew it.`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `the TLS certificate is not for ${server.hostname}. Use a host name of the certificate, or renew it with this name.`
  }
  if (isTlsError(code)) {
    return `the TLS certificate of ${server.host} is not trusted (${code}). Set NODE_EXTRA_CA_CERTS to the file of your CA, or install a trusted certificate.`
  }
  if (code.startsWith('HPE_') || code === 'ECONNRESET' || code === 'UND_ERR_SOCKET') {
    return `${server.host} ended the connection without an HTTP response. Check the port, and whether the URL must begin with ${other}://.`
  }
  return `the connection to ${server.host} failed: ${messageOf(error)}. Check the URL.`
}

const MAX_EDITS = 3

/** Number of single-character edits between two words. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1]
    for (const [column, other] of [...b].entries()) {
      current.push(Math.min(previous[column + 1]! + 1, current[column]! + 1, previous[column]! + (letter === other ? 0 : 1)))
    }
    previous = current
  }
  return previous[b.length]!
}

/** The known name that is closest to a mistyped one: `ful-page` → `full-page`, and `width` → `viewport-width`. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const limit = Math.min(MAX_EDITS, Math.ceil(word.length / 3))
  const ranked = names.map((name) => ({ name, distance: editDistance(word, name) })).sort((a, b) => a.distance - b.distance)
  const [best] = ranked
  return best !== undefined && best.distance <= limit ? best.name : names.find((name) => name.endsWith(`-${word}`))
}

/** ` Did you mean --full-page?`, or an empty text. */
export function suggestion(word: string, names: readonly string[], prefix = ''): string {
  const found = nearest(word, names)
  return found === undefined ? '' : ` Did you mean ${prefix}${found}?`
}
