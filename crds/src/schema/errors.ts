// Every error code that a client can receive, in a response or in a failed record, and what to do about it.

/** An error code: its HTTP status in a response, the remedy, and whether the operator retries the job. */
export interface ErrorEntry {
  /** HTTP status of a response with this code. Absent for codes that only a failed job has. */
  status?: number
  remedy: string
  /** True if another pod may succeed. The operator then starts another attempt. */
  retryable?: boolean
}

/** Codes of a failed capture. */
export const JOB_ERRORS = {
  TIMEOUT: {
    remedy:
      'Raise options.timeout, wait for less with options.wait_until, or check that the page loads. The message says which step took too long.',
  },
  NAVIGATION_FAILED: { remedy: 'Check that the URL responds from the internet; the message says how the connection ended.' },
  DNS_FAILED: { remedy: 'Check the host name and its DNS records.' },
  BLOCKED_ADDRESS: {
    remedy:
      'Use a public URL: the host name is internal, or its IP address is private or denied. An administrator can allow it for the RunnerPool.',
  },
  URL_NOT_ALLOWED: {
    remedy: 'Capture a URL that the capture policy of the API key allows, or change the field of the policy that the message names.',
  },
  PROXY_FAILED: { remedy: 'Check the proxy’s URL, user name and password, and that the proxy can reach the page.' },
  TLS_ERROR: {
    remedy: 'Fix the site’s certificate; the message names the problem. An administrator can trust a private authority for the RunnerPool.',
  },
  INVALID_SELECTOR: { remedy: 'Correct the CSS selector: the browser cannot read it. The message names the option and its value.' },
  INVALID_SCRIPT: { remedy: 'Correct the syntax error in the script. The message names the option and the error.' },
  SELECTOR_NOT_FOUND: {
    remedy: 'Check that the page has an element for the selector in the message, for example of wait_for_selector, click or hover.',
  },
  PAGE_CRASHED: {
    remedy:
      'Capture a smaller part of the page: it used more memory than a runner has, or crashed the browser. An administrator can raise the memory of the RunnerPool.',
  },
  HTTP_ERROR: { remedy: 'Check the page, or change options.fail_on_status: the page returned an HTTP status that this option lists.' },
  TOO_LARGE: {
    remedy:
      'Lower viewport_width, viewport_height, device_scale_factor, full_page_max_height, image_width or image_height, or set format to jpeg. The message gives the limit.',
  },
  UNSUPPORTED_CONTENT: {
    remedy: 'Read the message, which gives the reason. If the URL returns a file that the browser cannot show, download it yourself.',
  },
  TOO_MANY_REDIRECTS: { remedy: 'Use the final URL of the page: it redirects too often.' },
  SCRIPT_ERROR: {
    remedy:
      'Correct options.scripts or script_urls, or set fail_on_script_error or fail_on_page_error to false. The message contains the script’s error.',
  },
  BLANK_PAGE: {
    remedy:
      'Wait longer with options.wait_for_selector or options.delay, or set options.blank_page_action to accept: the picture shows one color and almost nothing else.',
  },
  BOT_CHALLENGE: {
    remedy: 'Try options.cookies or options.proxy, or leave options.fail_on_bot_challenge out: the site detected automation.',
  },
  CONTENT_RULE: {
    remedy: 'Check the page, or change the fail_if_… option or fail_on_redirect: the page breaks the rule in the message.',
  },
  BASELINE_NOT_FOUND: {
    remedy: 'Set options.compare_to to a completed screenshot whose file still exists, or leave it out. The message gives the reason.',
  },
  STORAGE_FAILED: { remedy: 'Create the screenshot again later: Tintype could not store the file.', retryable: true },
  COPY_FAILED: {
    remedy: 'Check the storage_… options and the permissions of the access key. The message contains the response of your store.',
  },
  USAGE_LIMIT_REACHED: {
    remedy: 'Wait for the next month, or ask an administrator for a larger plan: the monthly quota is used up.',
  },
  POOL_NOT_FOUND: {
    remedy: 'Ask an administrator of this service to create the RunnerPool that the message names, then create the screenshot again.',
  },
  VIDEO_UNAVAILABLE: {
    remedy:
      'Ask an administrator of this service for a RunnerPool that records videos: spec.video is true, and its image has ffmpeg. The message names the problem.',
  },
  ACCOUNT_NOT_FOUND: {
    remedy:
      'Correct spec.accountName, or ask an administrator to create the Account. Only a Screenshot created with kubectl fails with this code.',
  },
  QUEUE_FULL: {
    remedy:
      'Create the Screenshot again when fewer screenshots wait for a runner. Only a Screenshot created with kubectl fails with this code.',
  },
  INVALID_OPTIONS: { remedy: 'Correct the options that the message names, and create the screenshot again.' },
  OPTION_NOT_ALLOWED: { remedy: 'Leave out the options that the message names: this service does not allow them.' },
  ACCOUNT_SUSPENDED: { remedy: 'Ask an administrator of this service to end the suspension of the account.' },
  CANCELLED: {
    remedy:
      'Ask an administrator of this service to create the account again, then create the screenshot again: the account was deleted before the capture started.',
  },
  RESOURCE_LIMIT: {
    remedy: 'Block requests with options such as block_ads or block_resources: the limit is 10,000 requests and 512 MiB per capture.',
  },
  INTERNAL_ERROR: {
    remedy: 'Create the screenshot again. If it fails again, report its id to an administrator of this service.',
    retryable: true,
  },
} as const satisfies Record<string, ErrorEntry>

export type JobErrorCode = keyof typeof JOB_ERRORS

/** Error codes of responses. */
export const HTTP_ERRORS = {
  VALIDATION_ERROR: { status: 400, remedy: 'Correct the fields listed in error.details.' },
  URL_NOT_ALLOWED: { status: 400, remedy: 'Use a public http or https URL whose host the policies of the API key allow.' },
  UNAUTHORIZED: { status: 401, remedy: 'Send the header Authorization: Bearer <API_KEY>.' },
  INVALID_API_KEY: { status: 401, remedy: 'Use an API key that exists, is active and has not expired.' },
  INSUFFICIENT_SCOPE: { status: 403, remedy: 'Use an API key with the scope that the header WWW-Authenticate names.' },
  POLICY_TOO_NARROW: {
    status: 403,
    remedy: 'Use an API key whose capture policy is at least as wide. The message names the field that is narrower.',
  },
  ACCOUNT_SUSPENDED: { status: 403, remedy: 'Ask an administrator of this service to end the suspension of the account.' },
  NOT_FOUND: { status: 404, remedy: 'Check the id and the path.' },
  METHOD_NOT_ALLOWED: { status: 405, remedy: 'Use a method that the header Allow lists.' },
  NOT_ACCEPTABLE: {
    status: 406,
    remedy: 'Add a type that the message names to the header Accept, or set options.format to one that the header accepts.',
  },
  REQUEST_TIMEOUT: { status: 408, remedy: 'Send the request again, and send its headers and body faster.' },
  CONFLICT: {
    status: 409,
    remedy:
      'Read the message: another request changed the resource, its id or object name is in use, or its state does not allow the request.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    remedy: 'Send the request again after the seconds in Retry-After: the first request with this Idempotency-Key may still be running.',
  },
  LAST_API_KEY: {
    status: 409,
    remedy:
      'Create another valid API key with at least the same scopes, then repeat the request. If the request sets expires_at, the other API key must expire later or never.',
  },
  ROTATION_IN_PROGRESS: {
    status: 409,
    remedy: 'Wait until the previous API key value or signing secret has expired, or send force: true.',
  },
  LIMIT_REACHED: {
    status: 409,
    remedy: 'Delete API keys, webhooks or schedules that you no longer need. error.details.limit is the maximum per account.',
  },
  NOT_READY: { status: 409, remedy: 'Wait until status is no longer pending, for example with GET /screenshots/:id?wait=25.' },
  EXPIRED: { status: 410, remedy: 'Capture the page again: the file, or the event to redeliver, no longer exists.' },
  PRECONDITION_FAILED: { status: 412, remedy: 'Read the resource again and repeat the request with its new ETag.' },
  PAYLOAD_TOO_LARGE: { status: 413, remedy: 'Send a smaller body. The message has the limit.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    remedy: 'Send JSON in UTF-8, with Content-Type: application/json. The message says what is wrong.',
  },
  RANGE_NOT_SATISFIABLE: { status: 416, remedy: 'Request bytes within the size of the file.' },
  CAPTURE_FAILED: { status: 422, remedy: 'Read error.details: it contains the code and the message of the failed capture.' },
  NOT_COMPARABLE: {
    status: 422,
    remedy:
      'Set options.compare_to or run_id to a completed screenshot with a picture of the page. The message says what is wrong with this one.',
  },
  IDEMPOTENCY_KEY_REUSED: { status: 422, remedy: 'Use a new Idempotency-Key for another request.' },
  OPTION_NOT_ALLOWED: {
    status: 403,
    remedy: 'Leave out the options that the message names: this service, or a policy of the API key, does not allow them.',
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    remedy: 'Call this path from a program, or ask the operator of the service to allow the origin of the page (gateway.corsOrigins).',
  },
  LINK_INVALID: {
    status: 403,
    remedy: 'Read the record again and use its new download_url, or sign the link again: this link is invalid or has expired.',
  },
  HEADERS_TOO_LARGE: { status: 431, remedy: 'Send at most 16 KiB of URL and headers together.' },
  RATE_LIMIT_EXCEEDED: { status: 429, remedy: 'Send the request again after the seconds in Retry-After.' },
  USAGE_LIMIT_REACHED: {
    status: 429,
    remedy: 'Wait until error.details.reset_at, or ask an administrator of this service for a larger plan.',
  },
  QUEUE_FULL: {
    status: 503,
    remedy: 'Send the request again after the seconds in Retry-After: too many screenshots wait for a runner or for the archive.',
  },
  TOO_MANY_DOWNLOADS: {
    status: 503,
    remedy: 'Send the request again after the seconds in Retry-After: this replica sends too many files.',
  },
  INTERNAL_ERROR: {
    status: 500,
    remedy: 'Send the request again. If it fails again, report the request id to an administrator of this service.',
  },
  CAPTURE_TIMEOUT: { status: 504, remedy: 'Request the link again later: the capture takes longer than 100 seconds, or 300 for a video.' },
  SERVICE_UNAVAILABLE: { status: 503, remedy: 'Send the request again after the seconds in Retry-After.' },
} as const satisfies Record<string, ErrorEntry & { status: number }>

export type HttpErrorCode = keyof typeof HTTP_ERRORS

/** Codes of the entries in `error.details`, with their meanings. */
export const PROBLEM_CODES = {
  required: 'The field is missing.',
  unknown_field: 'No field has this name. If a known name is similar, the message suggests it.',
  invalid_type: 'The value has another type, such as text for a number.',
  invalid_value: 'The value is not allowed, or breaks a rule that the message names.',
  invalid_format: 'The text does not have the format that the message describes.',
  too_small: 'The number is too low, or the text or list is too short.',
  too_big: 'The number is too high, or the text or list is too long.',
  duplicate: 'The list has this value twice.',
  empty: 'The body has no field to change.',
  contradiction: 'Two fields exclude each other, or one needs another.',
  not_allowed: 'This service does not allow this option.',
  in_the_past: 'The time must be in the future.',
  fixed: 'This field of the default webhook cannot be changed.',
  archived:
    'This `sort` or `offset` does not work for records in the archive. Add the `created_after` that the message gives, or sort by `created_at` and use `cursor`.',
  reserved_name: 'JavaScript reserves this field name: `__proto__`, `constructor` or `prototype`. Leave the field out.',
  invalid_json: 'The body is not valid JSON.',
  invalid_secret: 'The signing secret has the wrong form or length.',
  invalid_url: 'The text is not a valid URL, or has a part that this field does not allow.',
  unsupported_scheme: 'The URL is neither http nor https.',
  https_required: 'The URL of a webhook or `webhook_url` must start with https://.',
  host_required: 'The URL has no host name or IP address.',
  credentials_in_url: '`html_base_url`, `webhook_url` and the URL of a webhook must not contain a user name or password.',
  fragment: 'The URL of a webhook or `webhook_url` must not have a fragment (#…).',
  url_not_allowed: 'The host, IP address or port of the URL is not allowed. Use a public URL.',
  refused: 'The Kubernetes API rejected the field in `path`. Change its value, or report the request id to an administrator.',
} as const satisfies Record<string, string>

export type ProblemCode = keyof typeof PROBLEM_CODES

/** True if the page did not cause the failure, so that another attempt on another pod may succeed. */
export const isRetryable = (code: JobErrorCode): boolean => 'retryable' in JOB_ERRORS[code]
