// One table for every code a client can meet, on the wire and in a failed record, with what to do about it.

/** What a code means to a client: its HTTP status when it answers a request, the remedy, and for jobs what the service does. */
export interface ErrorEntry {
  /** HTTP status when the code answers a request; absent for codes that only a failed job carries. */
  status?: number
  remedy: string
  /** True when another pod may well succeed: the operator starts another attempt. */
  retryable?: boolean
}

/** Codes of a failed capture. All of them give the unit of quota back. */
export const JOB_ERRORS = {
  TIMEOUT: { remedy: 'Raise options.timeout, wait for less (options.wait_until), or check that the page loads.' },
  NAVIGATION_FAILED: { remedy: 'Check that the address answers from the internet; error.message says how the connection ended.' },
  DNS_FAILED: { remedy: 'Check the host name: it does not resolve.' },
  BLOCKED_ADDRESS: { remedy: 'The address is private or refused by the operator’s egress rules; only public addresses can be captured.' },
  PROXY_FAILED: { remedy: 'Check the proxy: its address, its user and password, and that it may reach the page.' },
  TLS_ERROR: { remedy: 'Mend the site’s certificate; error.message names the fault.' },
  SELECTOR_NOT_FOUND: { remedy: 'Check the selectors of the options (wait_for_selector, click, hover) against the page.' },
  PAGE_CRASHED: { remedy: 'The page used more memory than a runner has, or crashed the browser; capture a smaller part of it.' },
  HTTP_ERROR: { remedy: 'The page answered with an error status that the options ask to refuse.' },
  TOO_LARGE: { remedy: 'The picture exceeds the size limit: use a smaller viewport, scale or full_page_max_height, or jpeg.' },
  UNSUPPORTED_CONTENT: { remedy: 'The address answers with a download, not a page.' },
  TOO_MANY_REDIRECTS: { remedy: 'The page redirects in a circle; give its final address.' },
  SCRIPT_ERROR: { remedy: 'options.scripts threw; error.message holds the first line.' },
  BLANK_PAGE: {
    remedy:
      'The picture shows one colour: wait for more (options.wait_for_selector, options.delay), or accept it (options.blank_page_action).',
  },
  BOT_CHALLENGE: {
    remedy:
      'The site takes the browser for a program; options.cookies or options.proxy may help, or leave options.fail_on_bot_challenge out.',
  },
  CONTENT_RULE: { remedy: 'The page breaks a rule of the options (fail_if_…, fail_on_redirect); error.message says which.' },
  STORAGE_FAILED: { remedy: 'The picture could not be stored; try again later.', retryable: true },
  COPY_FAILED: {
    remedy:
      'The picture could not be copied to storage_bucket: check its options and the key’s rights; error.message says what the store answered.',
  },
  USAGE_LIMIT_REACHED: { remedy: 'The account’s monthly quota is used up: wait for the next month or take a larger plan.' },
  INVALID_OPTIONS: {
    remedy: 'Create the screenshot anew: its private or large options cannot be used; error.message says why.',
  },
  OPTION_NOT_ALLOWED: { remedy: 'Leave the option out: whoever runs this service has switched it off.' },
  ACCOUNT_SUSPENDED: { remedy: 'Ask whoever runs this service.' },
  CANCELLED: { remedy: 'The screenshot, or its account, was deleted before the capture ended.' },
  RESOURCE_LIMIT: { remedy: 'The page asked for more requests or bytes than one capture may have.' },
  INTERNAL_ERROR: { remedy: 'Try again; if it stays, tell whoever runs this service, with the id.', retryable: true },
} as const satisfies Record<string, ErrorEntry>

export type JobErrorCode = keyof typeof JOB_ERRORS

/** Codes that answer a request. */
export const HTTP_ERRORS = {
  VALIDATION_ERROR: { status: 400, remedy: 'Correct the fields listed in error.details.' },
  URL_NOT_ALLOWED: { status: 400, remedy: 'Use a public http or https address.' },
  UNAUTHORIZED: { status: 401, remedy: 'Send the header Authorization: Bearer <API_KEY>.' },
  INVALID_API_KEY: { status: 401, remedy: 'Use a key that exists, is active and has not expired.' },
  INSUFFICIENT_SCOPE: { status: 403, remedy: 'Use a key with the scope that the header WWW-Authenticate names.' },
  ACCOUNT_SUSPENDED: { status: 403, remedy: 'Ask whoever runs this service.' },
  NOT_FOUND: { status: 404, remedy: 'Check the id and the path.' },
  METHOD_NOT_ALLOWED: { status: 405, remedy: 'Use a method that the header Allow lists.' },
  CONFLICT: { status: 409, remedy: 'Read the resource again: somebody else changed it, or its name is taken.' },
  IDEMPOTENCY_IN_PROGRESS: { status: 409, remedy: 'Wait for the first request with this Idempotency-Key to end, then repeat.' },
  LAST_API_KEY: { status: 409, remedy: 'Create another key first, and delete this one with it.' },
  ROTATION_IN_PROGRESS: { status: 409, remedy: 'Wait until the previous secret has expired, or send force: true.' },
  LIMIT_REACHED: { status: 409, remedy: 'Delete what is not used any more.' },
  NOT_READY: { status: 409, remedy: 'Wait until the screenshot is completed.' },
  EXPIRED: { status: 410, remedy: 'The file is gone; capture the page again.' },
  PRECONDITION_FAILED: { status: 412, remedy: 'Read the record again and repeat with its ETag.' },
  PAYLOAD_TOO_LARGE: { status: 413, remedy: 'Send at most 4 MiB.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, remedy: 'Send Content-Type: application/json.' },
  RANGE_NOT_SATISFIABLE: { status: 416, remedy: 'Ask for bytes that the file has.' },
  CAPTURE_FAILED: { status: 422, remedy: 'error.details holds the capture’s own code and message.' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, remedy: 'Use a new Idempotency-Key for another request.' },
  OPTION_NOT_ALLOWED: { status: 403, remedy: 'Leave the option out: whoever runs this service has switched it off.' },
  LINK_INVALID: { status: 403, remedy: 'Read the record again: its download_url is fresh.' },
  RATE_LIMIT_EXCEEDED: { status: 429, remedy: 'Send the request again after the seconds in Retry-After.' },
  USAGE_LIMIT_REACHED: { status: 429, remedy: 'Wait for the next month (details.reset_at) or take a larger plan.' },
  QUEUE_FULL: { status: 503, remedy: 'Try again after the seconds in Retry-After: too many screenshots wait already.' },
  TOO_MANY_DOWNLOADS: { status: 503, remedy: 'Try again after the seconds in Retry-After.' },
  INTERNAL_ERROR: { status: 500, remedy: 'Try again; if it stays, report the request id.' },
  SERVICE_UNAVAILABLE: { status: 503, remedy: 'Try again after the seconds in Retry-After.' },
} as const satisfies Record<string, ErrorEntry & { status: number }>

export type HttpErrorCode = keyof typeof HTTP_ERRORS

/** True when a failure with this code is not the page's own: another attempt on another pod may succeed. */
export const isRetryable = (code: JobErrorCode): boolean => 'retryable' in JOB_ERRORS[code]
