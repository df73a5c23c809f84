/** The API group of every kind, and its only version. */
export const GROUP = 'tintype.dev'
export const VERSION = 'v1alpha1'
export const API_VERSION = `${GROUP}/${VERSION}`

/** The account of a Screenshot, Webhook or ApiKey without accountName. */
export const DEFAULT_ACCOUNT = 'default'

/** The RunnerPool of a Screenshot without poolName. */
export const DEFAULT_POOL = 'default'

/** The RunnerPool of a video without poolName. */
export const DEFAULT_VIDEO_POOL = 'video'

/** Labels that the programs read. User input never becomes a label. */
export const Label = {
  pool: 'tintype.dev/pool',
  templateHash: 'tintype.dev/template-hash',
  /** base32 SHA-256 of an API key's text, which allows a lookup by label. During a rotation, the second label has the other key. */
  keyHash1: 'tintype.dev/hash-1',
  keyHash2: 'tintype.dev/hash-2',
  /** On a Secret that a person created for an ApiKey (existingSecret): the account that may use it. Keys of other accounts are refused. */
  account: 'tintype.dev/account',
  /** The program that created the object. */
  component: 'tintype.dev/component',
} as const

/** Labels of the Lease that shows that a gateway replica is alive. */
export const GATEWAY_LEASE_LABELS = { [Label.component]: 'api-gateway' } as const

export const Annotation = {
  /** Set by the gateway on a deleted Screenshot with open deliveries. Requests for it return 404. The operator deletes it after the deliveries. */
  deleteRequested: 'tintype.dev/delete-requested',
  /** Set by the gateway on a Screenshot: the estimated time in the response to its creation. */
  estimatedTime: 'tintype.dev/estimated-time',
  /** Set by the gateway on a Screenshot: the trace of the request that created it ({@link import('../runtime/trace-context.ts')}). */
  traceparent: 'tintype.dev/traceparent',
  /** Set by the gateway: the time at which a Webhook or ApiKey was last changed in the REST API. Kubernetes does not store such a time. */
  updatedAt: 'tintype.dev/updated-at',
  /** Set by the gateway on the ApiKey that replaces a deleted one, so that concurrent requests cannot delete both. The value has no meaning. */
  standsIn: 'tintype.dev/stands-in',
  /** Set by the operator when it disables a Webhook: the reason. Removed when the Webhook is enabled. */
  disabledReason: 'tintype.dev/disabled-reason',
  /** Set by a person on a Webhook, with any text: requests a test event ({@link import('../webhooks/webhook-requests.ts')}). */
  testRequested: 'tintype.dev/test-requested',
  /**
   * Set on a ScreenshotSchedule: approves the picture of a run. The value is the id of the run, or `latest` or empty for the last compared one.
   * `undo` takes the last approval back ({@link import('../records/approval.ts')}). The operator removes it when it has been applied.
   */
  approve: 'tintype.dev/approve',
  /** Set beside {@link Annotation.approve}: who approves, for the history. The gateway writes the id of the API key. */
  approvedBy: 'tintype.dev/approved-by',
} as const

/** Prefix of the annotations with which the gateway requests posts from the operator; a nonce follows. */
export const REQUEST_PREFIX = 'request.tintype.dev/'

/** Names of the Secrets of one release; `release` is the full name of the Helm release. */
export const secretNames = (release: string) => ({
  /** Data `api-key`: the first account's key, in plain text, shown once. */
  initialApiKey: `${release}-initial-api-key`,
  /** Data `keys.json`: the {@link import('../crypto/signatures.ts').KeyRing} that signs download links. */
  downloadKeys: `${release}-download-keys`,
  /** Data `private.json` (for the operator) and `public.json` (for the gateway): the key pair of {@link import('../crypto/sealed.ts')}. */
  sealingKey: `${release}-sealing-key`,
  /** Data `key.json`: the {@link import('../crypto/api-keys.ts').LinkKey} from which gateways derive the secrets of signed links. */
  linkKey: `${release}-link-key`,
  /** Data `private.jwk`: the Ed25519 key that signs dispatches. */
  dispatchKey: `${release}-dispatch-key`,
})

/** The audience of the projected token with which a runner authenticates its pod to the operator. */
export const DISPATCH_AUDIENCE = 'tintype-dispatch'

/** The TCP port on which a runner serves the dispatch protocol. */
export const RUNNER_PORT = 8080

const ID_NAME = /^(scr|key|sch|wh)-[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** Returns a check that is true for object names that were made from an id with a prefix. */
const isIdNameOf = (prefix: string) => (name: string) => ID_NAME.exec(name)?.[1] === prefix
export const isScreenshotIdName = isIdNameOf('scr')
export const isApiKeyIdName = isIdNameOf('key')
export const isScheduleIdName = isIdNameOf('sch')
export const isWebhookIdName = isIdNameOf('wh')

/** `scr_01h…` → `scr-01h…`, because object names must not contain underscores. */
export const toObjectName = (id: string): string => id.replace('_', '-')

/** `scr-01h…` → `scr_01h…`. */
export const toId = (name: string): string => name.replace('-', '_')
