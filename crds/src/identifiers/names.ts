/** The API group of every kind, with the one version it has. */
export const GROUP = 'tintype.dev'
export const VERSION = 'v1alpha1'
export const API_VERSION = `${GROUP}/${VERSION}`

/** The account of a Screenshot, Webhook or ApiKey that names none. */
export const DEFAULT_ACCOUNT = 'default'

/** The RunnerPool that captures a Screenshot that names none. */
export const DEFAULT_POOL = 'default'

/** Labels that the programs read back. User input never becomes a label. */
export const Label = {
  pool: 'tintype.dev/pool',
  templateHash: 'tintype.dev/template-hash',
  /** base32 SHA-256 of an API key's text; a second slot holds the other key during a rotation (decision: one lookup by label, no list). */
  keyHash1: 'tintype.dev/hash-1',
  keyHash2: 'tintype.dev/hash-2',
  /** On a Secret that a person made for an ApiKey (existingSecret): which account it is for. A key of another account does not get it. */
  account: 'tintype.dev/account',
  /** Which program made the object. */
  component: 'tintype.dev/component',
} as const

/** Labels of the Lease by which a gateway shows that it lives. */
export const GATEWAY_LEASE_LABELS = { [Label.component]: 'api-gateway' } as const

export const Annotation = {
  /** Set by the gateway on a Screenshot whose deliveries are still open: 404 on the wire, deleted by the operator when they are settled. */
  deleteRequested: 'tintype.dev/delete-requested',
  /** Set by the gateway on a Screenshot: the range text that its creation answered (spec 2.1). */
  estimatedTime: 'tintype.dev/estimated-time',
  /** Set by the gateway on a Screenshot: the trace of the request that asked for it ({@link import('../runtime/trace-context.ts')}). */
  traceparent: 'tintype.dev/traceparent',
  /** Set by the gateway: when a Webhook or ApiKey was last changed over REST. Kubernetes keeps no such time. */
  updatedAt: 'tintype.dev/updated-at',
  /** Set by the gateway on an ApiKey that stands in for one that is taken away, so that both cannot go at once. Its value has no meaning. */
  standsIn: 'tintype.dev/stands-in',
  /** Set by the operator when it switches a Webhook off: why. It goes when the Webhook is switched on. */
  disabledReason: 'tintype.dev/disabled-reason',
  /** Set by a person on a Webhook, with any text: asks the operator for a test event ({@link import('../webhooks/webhook-requests.ts')}). */
  testRequested: 'tintype.dev/test-requested',
} as const

/** Annotations by which the gateway asks the operator for posts; a nonce follows. */
export const REQUEST_PREFIX = 'request.tintype.dev/'

/** Names of objects of one release; `release` is the Helm release's full name. */
export const secretNames = (release: string) => ({
  /** Data `api-key`: the first account's key, in plain text, shown once. */
  initialApiKey: `${release}-initial-api-key`,
  /** Data `keys.json`: the {@link import('../crypto/download-link.ts').KeyRing} that signs download links. */
  downloadKeys: `${release}-download-keys`,
  /** Data `private.json` (the operator’s) and `public.json` (mounted by the gateway): what {@link import('../crypto/sealed.ts')} seals to. */
  sealingKey: `${release}-sealing-key`,
  /** Data `private.jwk`: the Ed25519 key that signs dispatches. */
  dispatchKey: `${release}-dispatch-key`,
})

/** The audience of the projected token by which a runner proves its pod to the operator. */
export const DISPATCH_AUDIENCE = 'tintype-dispatch'

/** The TCP port that a runner serves the dispatch protocol on. */
export const RUNNER_PORT = 8080

const SCREENSHOT_NAME = /^scr-[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** True for a name that {@link toObjectName} made from a screenshot id. */
export const isScreenshotIdName = (name: string): boolean => SCREENSHOT_NAME.test(name)

const API_KEY_NAME = /^key-[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** True for a name that {@link toObjectName} made from the id of an API key. */
export const isApiKeyIdName = (name: string): boolean => API_KEY_NAME.test(name)

const WEBHOOK_NAME = /^wh-[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** True for a name that {@link toObjectName} made from a webhook id. */
export const isWebhookIdName = (name: string): boolean => WEBHOOK_NAME.test(name)

/** `scr_01h…` → `scr-01h…`: underscores are not legal in object names. */
export const toObjectName = (id: string): string => id.replace('_', '-')

/** `scr-01h…` → `scr_01h…`. */
export const toId = (name: string): string => name.replace('-', '_')
