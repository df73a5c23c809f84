import { TintypeError, type TintypeErrorFields, toMessage } from '../common/errors.ts'

/** Seconds of the header Retry-After, which is a number or a date. */
export function parseRetryAfter(value: string | null, now: () => number = Date.now): number | undefined {
  if (value === null) return undefined
  if (/^\d+$/.test(value)) return Number(value)
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now()) / 1_000))
}

interface ErrorBody {
  error?: { code?: unknown; message?: unknown; details?: TintypeErrorFields['details']; request_id?: string }
}

function parseBody(text: string): ErrorBody['error'] {
  try {
    return (JSON.parse(text) as ErrorBody | null)?.error
  } catch {
    return undefined
  }
}

/** The error for a response whose status is not 2xx. */
export async function toResponseError(response: Response): Promise<TintypeError> {
  const { status, headers } = response
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) return toRedirectError(response)
  const error = parseBody(await response.text())
  const fields = {
    status,
    requestId: headers.get('x-request-id') ?? error?.request_id,
    retryAfterSeconds: parseRetryAfter(headers.get('retry-after')),
  }
  if (typeof error?.code === 'string' && typeof error.message === 'string') {
    const { code, message, details } = error
    return new TintypeError(toMessage(code, message, details), { ...fields, code, details })
  }
  return new TintypeError(
    `the response has the status ${status} and does not come from Tintype. Check baseUrl and the proxies on the way.`,
    {
      ...fields,
      code: 'INVALID_RESPONSE',
    },
  )
}

/** Redirects are not followed: a POST would become a GET, and the API key would be lost or sent to another host. */
function toRedirectError({ status, headers }: Response): TintypeError {
  const location = headers.get('location')
  return new TintypeError(
    `the service redirects${location === null ? '' : ` to ${location}`}. Set baseUrl to the final URL of the service.`,
    {
      code: 'INVALID_CONFIGURATION',
      status: status === 0 ? undefined : status,
    },
  )
}
