import { toPeopleMessage } from '../../../client/src/common/people-remedies.ts'
import { CaptureFailedError, TintypeError } from '../../../client/src/index.ts'
import { explainConnection } from './connection.ts'

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
export const toFlagNames = (message: string): string =>
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
