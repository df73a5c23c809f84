// Every error code that a client can receive, in a response or in a failed record, and what to do about it.

/** An error code: its HTTP status in a response, the remedy, and whether the operator retries the job. */
export interface ErrorEntry {
  /** HTTP status of a response with this code. Absent for codes that only a failed job has. */
  status?: number
  remedy: string
  /** True if another pod may succeed. The operator then starts another attempt. */
  retryable?: boolean
}

/** Codes of a failed capture. Failed captures are refunded. */
export const JOB_ERRORS = {
  TIMEOUT: { remedy: 'Raise options.timeout, wait for less (options.wait_until), or check that the page loads.' },
  NAVIGATION_FAILED: { remedy: 'Check that the URL responds from the internet; error.message says how the connection ended.' },
  DNS_FAILED: { remedy: 'Check the host name: it does not resolve.' },
  BLOCKED_ADDRESS: { remedy: 'The IP address is private or refused by the egress rules. Only public addresses can be captured.' },
  PROXY_FAILED: { remedy: 'Check the proxy’s URL, user name and password, and that the proxy can reach the page.' },
  TLS_ERROR: { remedy: 'Fix the site’s certificate; error.message names the problem.' },
  INVALID_SELECTOR: { remedy: 'Correct the selector: the browser cannot read it. error.message names the option and its value.' },
  INVALID_SCRIPT: { remedy: 'Correct the script: it is not JavaScript. error.message names the option and the syntax error.' },
  SELECTOR_NOT_FOUND: { remedy: 'Check the selectors of the options (wait_for_selector, click, hover) against the page.' },
  PAGE_CRASHED: { remedy: 'The page used more memory than a runner has, or crashed the browser; capture a smaller part of it.' },
  HTTP_ERROR: { remedy: 'The page returned an error status that the options refuse.' },
  TOO_LARGE: { remedy: 'The picture exceeds the size limit: use a smaller viewport, scale or full_page_max_height, or format jpeg.' },
  UNSUPPORTED_CONTENT: { remedy: 'The URL returns a file that cannot be shown: fetch the file itself. error.message says why.' },
  TOO_MANY_REDIRECTS: { remedy: 'The page redirects in a loop; use its final URL.' },
  SCRIPT_ERROR: { remedy: 'A script of the options threw; error.message holds the first line.' },
  BLANK_PAGE: {
    remedy:
      'The picture shows one color: wait for more (options.wait_for_selector, options.delay), or accept it (options.blank_page_action).',
  },
  BOT_CHALLENGE: {
    remedy: 'The site detected automation; options.cookies or options.proxy may help, or leave options.fail_on_bot_challenge out.',
  },
  CONTENT_RULE: { remedy: 'The page breaks a rule of the options (fail_if_…, fail_on_redirect); error.message says which.' },
  STORAGE_FAILED: { remedy: 'The picture could not be stored; try again later.', retryable: true },
  COPY_FAILED: {
    remedy:
      'The picture could not be copied to storage_bucket: check its options and the key’s rights; error.message contains the store’s response.',
  },
  USAGE_LIMIT_REACHED: { remedy: 'The account’s monthly quota is used up: wait for the next month or take a larger plan.' },
  POOL_NOT_FOUND: {
    remedy:
      'No RunnerPool has the name that spec.poolName, or the plan of the account, gives: create the pool, then create the screenshot again.',
  },
  ACCOUNT_NOT_FOUND: { remedy: 'No Account has the name in spec.accountName: create the Account, then create the screenshot again.' },
  QUEUE_FULL: { remedy: 'The account’s queue was full: create the screenshot again when fewer wait.' },
  INVALID_OPTIONS: { remedy: 'Correct the options and create the screenshot again; error.message says what is wrong.' },
  OPTION_NOT_ALLOWED: { remedy: 'Leave the option out: an administrator of this service has switched it off.' },
  ACCOUNT_SUSPENDED: { remedy: 'Ask an administrator of this service.' },
  CANCELLED: { remedy: 'The screenshot, or its account, was deleted before the capture ended.' },
  RESOURCE_LIMIT: { remedy: 'The page exceeded the requests or bytes of one capture.' },
  INTERNAL_ERROR: { remedy: 'Try again; if it persists, report the id to an administrator of this service.', retryable: true },
} as const satisfies Record<string, ErrorEntry>

export type JobErrorCode = keyof typeof JOB_ERRORS

/** Error codes of responses. */
export const HTTP_ERRORS = {
  VALIDATION_ERROR: { status: 400, remedy: 'Correct the fields listed in error.details.' },
  URL_NOT_ALLOWED: { status: 400, remedy: 'Use a public http or https URL.' },
  UNAUTHORIZED: { status: 401, remedy: 'Send the header Authorization: Bearer <API_KEY>.' },
  INVALID_API_KEY: { status: 401, remedy: 'Use a key that exists, is active and has not expired.' },
  INSUFFICIENT_SCOPE: { status: 403, remedy: 'Use a key with the scope that the header WWW-Authenticate names.' },
  ACCOUNT_SUSPENDED: { status: 403, remedy: 'Ask an administrator of this service.' },
  NOT_FOUND: { status: 404, remedy: 'Check the id and the path.' },
  METHOD_NOT_ALLOWED: { status: 405, remedy: 'Use a method that the header Allow lists.' },
  CONFLICT: { status: 409, remedy: 'Read the resource again: another request changed it, or its name is in use.' },
  IDEMPOTENCY_IN_PROGRESS: { status: 409, remedy: 'Wait for the first request with this Idempotency-Key to end, then repeat.' },
  LAST_API_KEY: { status: 409, remedy: 'Create another key with the same scopes that lasts longer, then repeat.' },
  ROTATION_IN_PROGRESS: { status: 409, remedy: 'Wait until the previous secret has expired, or send force: true.' },
  LIMIT_REACHED: { status: 409, remedy: 'Delete objects that are no longer used.' },
  NOT_READY: { status: 409, remedy: 'Wait until the screenshot is completed.' },
  EXPIRED: { status: 410, remedy: 'The file is gone; capture the page again.' },
  PRECONDITION_FAILED: { status: 412, remedy: 'Read the record again and repeat with its ETag.' },
  PAYLOAD_TOO_LARGE: { status: 413, remedy: 'Send at most 4 MiB.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, remedy: 'Send Content-Type: application/json.' },
  RANGE_NOT_SATISFIABLE: { status: 416, remedy: 'Request bytes within the size of the file.' },
  CAPTURE_FAILED: { status: 422, remedy: 'error.details holds the capture’s own code and message.' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, remedy: 'Use a new Idempotency-Key for another request.' },
  OPTION_NOT_ALLOWED: { status: 403, remedy: 'Leave the option out: an administrator of this service has switched it off.' },
  LINK_INVALID: { status: 403, remedy: 'Read the record again: its download_url is fresh.' },
  RATE_LIMIT_EXCEEDED: { status: 429, remedy: 'Send the request again after the seconds in Retry-After.' },
  USAGE_LIMIT_REACHED: { status: 429, remedy: 'Wait for the next month (details.reset_at) or take a larger plan.' },
  QUEUE_FULL: { status: 503, remedy: 'Try again after the seconds in Retry-After: too many screenshots wait already.' },
  TOO_MANY_DOWNLOADS: { status: 503, remedy: 'Try again after the seconds in Retry-After.' },
  INTERNAL_ERROR: { status: 500, remedy: 'Try again; if it persists, report the request id.' },
  SERVICE_UNAVAILABLE: { status: 503, remedy: 'Try again after the seconds in Retry-After.' },
} as const satisfies Record<string, ErrorEntry & { status: number }>

export type HttpErrorCode = keyof typeof HTTP_ERRORS

/** Codes of the entries in `error.details`, with their meanings. */
export const PROBLEM_CODES = {
  required: 'The field is missing.',
  unknown_field: 'No field has this name; the message suggests the closest known name.',
  invalid_type: 'The value has another type, such as text for a number.',
  invalid_value: 'The value is not allowed, or breaks a rule that the message names.',
  invalid_format: 'The text does not have the form that the message describes.',
  too_small: 'The value is below its range, or the text or list too short.',
  too_big: 'The value is above its range, or the text or list too long.',
  duplicate: 'The list has this value twice.',
  empty: 'The body names no field to change.',
  contradiction: 'Two fields exclude each other, or one needs another.',
  not_allowed: 'An administrator of this service has switched this option off.',
  in_the_past: 'The time must be in the future.',
  fixed: 'This field of the default webhook cannot be changed.',
  archived: 'The parameter does not reach archived records; the message says which one to add.',
  reserved_name: 'JavaScript reserves this name: `__proto__`, `constructor` or `prototype`.',
  invalid_json: 'The body is not valid JSON.',
  invalid_secret: 'The signing secret has the wrong form or length.',
  invalid_url: 'The text is not a URL that can be used here.',
  unsupported_scheme: 'The URL is neither http nor https.',
  https_required: 'The URL must start with https://.',
  host_required: 'The URL names no host.',
  credentials_in_url: 'The URL must not hold a user name or password.',
  fragment: 'The URL must not have a fragment (#…).',
  url_not_allowed: 'The URL leads to a private or refused address.',
  refused: 'The Kubernetes API refuses a value that the gateway accepted.',
} as const satisfies Record<string, string>

export type ProblemCode = keyof typeof PROBLEM_CODES

/** True if the page did not cause the failure, so that another attempt on another pod may succeed. */
export const isRetryable = (code: JobErrorCode): boolean => 'retryable' in JOB_ERRORS[code]
