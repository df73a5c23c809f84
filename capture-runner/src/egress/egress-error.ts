import type { JobErrorCode } from '@tintype/crds/schema/errors'

/** The failures that the guard knows the cause of. */
export type EgressCode = Extract<JobErrorCode, 'BLOCKED_ADDRESS' | 'DNS_FAILED' | 'NAVIGATION_FAILED' | 'PROXY_FAILED' | 'RESOURCE_LIMIT'>

/** Why a connection was not made. `message` may name private addresses: it is for the request log and the log. */
export class EgressError extends Error {
  override name = 'EgressError'
  readonly code: EgressCode
  /** The same for a client, who must not learn what an inner name resolves to. Absent: the code's own sentence will do. */
  readonly publicMessage: string | undefined
  /** The system's or resolver's own code, such as ECONNREFUSED or ENOTFOUND. */
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

/** The `code` of a Node error, if it has one. */
export const systemCodeOf = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}
