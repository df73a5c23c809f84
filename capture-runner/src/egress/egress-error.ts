import type { JobErrorCode } from '@tintype/crds/schema/errors'
import { describeRefusal, type Refusal } from './refusal.ts'

/** Error codes that the guard itself can report. */
export type EgressCode = Extract<
  JobErrorCode,
  'BLOCKED_ADDRESS' | 'DNS_FAILED' | 'NAVIGATION_FAILED' | 'PROXY_FAILED' | 'RESOURCE_LIMIT' | 'URL_NOT_ALLOWED'
>

/** Why a connection was not made. `message` may name private addresses: write it to the request log and the log only. */
export class EgressError extends Error {
  override name = 'EgressError'
  readonly code: EgressCode
  /** Message for the client, who must not learn what an internal name resolves to. Absent: use the general message of the code. */
  readonly publicMessage: string | undefined
  /** Code of the operating system or the resolver, such as ECONNREFUSED or ENOTFOUND. */
  readonly systemCode: string | undefined

  constructor(
    code: EgressCode,
    message: string,
    options: { publicMessage?: string; systemCode?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.code = code
    this.publicMessage = options.publicMessage
    this.systemCode = options.systemCode
  }
}

/** A host that the capture policy of the API key does not allow. */
export class RefusedHostError extends EgressError {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    const message = describeRefusal(refusal)
    super('URL_NOT_ALLOWED', message, { publicMessage: message })
    this.refusal = refusal
  }
}

/** The `code` of a Node error, if it has one. */
export const systemCodeOf = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}
