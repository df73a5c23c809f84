import type { ApiKey, ApiKeyRequest, CapturePolicy, Rotation } from '../../../client/src/index.ts'
import type { Flag } from '../arguments/flag.ts'
import { EXIT } from '../common/errors.ts'
import { SCOPES } from '../generated/options.ts'
import { formatTime } from '../terminal/output.ts'
import { type Command, type Context, toDeleteCommand } from './context.ts'
import { findOwnKey } from './link.ts'

const inactive: Flag = { name: 'include-inactive', kind: 'boolean', summary: 'Also lists inactive ones' }

const DEFAULT_OVERLAP_HOURS = 24

/** Flags of rotations. */
const rotationFlags: readonly Flag[] = [
  { name: 'overlap-hours', kind: 'integer', value: 'N', summary: 'Hours until the old value ends; default: 24' },
  { name: 'force', kind: 'boolean', summary: 'Rotates again during the last overlap' },
]

const rotationOf = (context: Context): Rotation => context.given(rotationFlags)

/** Prints the value of a key, which no later command can show. */
function printKey(context: Context, key: { id: string; key?: string }): void {
  context.show(key, key.key ?? '')
  if (!context.isOn('json')) context.note(`Store the value of ${key.id} now: it is not shown again.`)
}

const keyRow = ({ id, name, last_four, scopes, is_active, expires_at, last_used_at }: ApiKey): string[] => [
  id,
  name,
  last_four === null ? '-' : `…${last_four}`,
  is_active ? 'yes' : 'no',
  formatTime(expires_at),
  formatTime(last_used_at),
  scopes.join(','),
]

const keysList: Command = {
  name: 'keys list',
  summary: 'Lists the API keys of the account',
  flags: [inactive],
  async run(context) {
    const query = { include_inactive: context.isOn('include-inactive'), signal: context.world.signal }
    const keys = await context.client().keys.list(query).toArray()
    context.showTable(keys, ['ID', 'NAME', 'ENDS IN', 'ACTIVE', 'EXPIRES (UTC)', 'LAST USED (UTC)', 'SCOPES'], keyRow)
  },
}

const expiry: Flag = { name: 'expires-in-days', kind: 'integer', value: 'N', summary: 'Days until the key expires; default: never' }
/** Flags of the link policy, by the names of its fields. */
const linkPolicyFlags: readonly Flag[] = [
  { name: 'allowed-hosts', kind: 'list', value: 'HOST', summary: 'Host that links may capture, repeatable' },
  { name: 'allowed-options', kind: 'list', value: 'NAME', summary: 'Option that links may have, repeatable' },
  { name: 'allow-own-markup', kind: 'boolean', isNegatable: true, summary: 'Lets links have html, styles and other own markup' },
]

/** Flags of the capture policy. */
const capturePolicyFlags: readonly Flag[] = [
  { name: 'capture-hosts', kind: 'list', value: 'HOST', summary: 'Host that captures may show, repeatable' },
  { name: 'request-hosts', kind: 'list', value: 'HOST', summary: 'Host that their pages may call, repeatable' },
  { name: 'capture-options', kind: 'list', value: 'NAME', summary: 'Option that captures may have, repeatable' },
  { name: 'own-content', kind: 'boolean', isNegatable: true, summary: 'Lets captures have own markup, scripts and proxies' },
]

/** The capture policy that the flags describe. Undefined: none. */
function toCapturePolicy(context: Context): Partial<CapturePolicy> | undefined {
  const { capture_hosts, request_hosts, capture_options, own_content } = context.given(capturePolicyFlags)
  const named = {
    ...{ allowed_hosts: capture_hosts, allowed_request_hosts: request_hosts },
    ...{ allowed_options: capture_options, allow_own_content: own_content },
  }
  const given = Object.entries(named).filter(([, value]) => value !== undefined)
  return given.length > 0 ? Object.fromEntries(given) : undefined
}

/** A capture policy in one line. */
function describePolicy(policy: CapturePolicy | null): string {
  if (!policy) return 'no limits'
  const { allowed_hosts, allowed_request_hosts, allowed_options, allow_own_content } = policy
  const limits = [
    ...(allowed_hosts ? [`hosts ${allowed_hosts.join(', ') || 'none'}`] : []),
    ...(allowed_request_hosts ? [`request hosts ${allowed_request_hosts.join(', ') || 'none'}`] : []),
    ...(allowed_options ? [`options ${allowed_options.join(', ') || 'none'}`] : []),
    (allow_own_content ?? allowed_hosts === null) ? 'own content' : 'no own content',
  ]
  return limits.join('; ')
}

const keysPolicy: Command = {
  name: 'keys policy',
  usage: 'ID',
  summary: 'Prints the capture policy of an API key in one line',
  async run(context) {
    const { capture_policy: policy } = await context.client().keys.get(context.argument(0), { signal: context.world.signal })
    context.show(policy, describePolicy(policy))
  },
}

const keysCheckUrl: Command = {
  name: 'keys check-url',
  usage: 'ID URL',
  summary: 'Tests a URL against the capture policy of an API key, without a capture',
  notes: ['The exit code is 1 if the policy does not allow the URL.'],
  async run(context) {
    const checked = await context.client().keys.checkUrl(context.argument(0), context.argument(1), { signal: context.world.signal })
    context.show(checked, checked.allowed ? 'allowed' : `not allowed: ${checked.reason}`)
    return checked.allowed ? EXIT.ok : EXIT.failed
  },
}

const SCOPES_IN_LINE = 4

/** The scopes, a few on each line. */
const scopeLines = Array.from({ length: Math.ceil(SCOPES.length / SCOPES_IN_LINE) }, (_, line) => {
  const first = line * SCOPES_IN_LINE
  return `  ${SCOPES.slice(first, first + SCOPES_IN_LINE).join(', ')}`
})

const keysCreate: Command = {
  name: 'keys create',
  usage: 'NAME',
  summary: 'Creates an API key and prints its value',
  flags: [
    { name: 'scopes', kind: 'list', value: 'SCOPE', values: SCOPES, summary: 'Scopes with commas, repeatable; default: all' },
    expiry,
    ...linkPolicyFlags,
    ...capturePolicyFlags,
  ],
  notes: ['Scopes:', ...scopeLines],
  async run(context) {
    const scopes = context
      .list('scopes')
      ?.flatMap((text) => text.split(','))
      .map((scope) => scope.trim())
    const policy = context.given(linkPolicyFlags)
    const captures = toCapturePolicy(context)
    const request = {
      name: context.argument(0),
      ...(scopes && { scopes }),
      ...context.given([expiry]),
      ...(Object.keys(policy).length > 0 && { link_policy: policy }),
      ...(captures && { capture_policy: captures }),
    }
    const key = await context.client().keys.create({ ...(request as ApiKeyRequest), signal: context.world.signal })
    printKey(context, key)
    const end = key.expires_at ? `${formatTime(key.expires_at)} UTC` : 'never'
    if (!context.isOn('json')) context.note(`Scopes: ${key.scopes.join(', ')}. Expires: ${end}.`)
  },
}

const keysDelete = toDeleteCommand('keys delete', 'Deletes an API key, which stops working', ({ keys }) => keys)

const keysRotate: Command = {
  name: 'keys rotate',
  usage: 'ID',
  summary: 'Replaces the value of an API key and prints the new one',
  flags: rotationFlags,
  async run(context) {
    printKey(context, await context.client().keys.rotate(context.argument(0), { ...rotationOf(context), signal: context.world.signal }))
  },
}

function printLinkSecret(context: Context, secret: { key: string; link_secret: string }): void {
  context.show(secret, secret.link_secret)
  if (context.isOn('json')) return
  context.note(`It signs links of ${secret.key}. Keep it on your server: it can capture any page at your cost.`)
}

const keysLinkSecret: Command = {
  name: 'keys link-secret',
  usage: '[ID]',
  summary: 'Prints the secret that signs links of an API key',
  notes: ['Without an ID, it is the secret of your API key.'],
  async run(context) {
    const id = context.parsed.positionals[0] ?? (await findOwnKey(context))
    printLinkSecret(context, await context.client().keys.linkSecret(id, { signal: context.world.signal }))
  },
}

const keysRotateLinkSecret: Command = {
  name: 'keys rotate-link-secret',
  usage: 'ID',
  summary: 'Replaces the link secret of an API key and prints the new one',
  flags: rotationFlags,
  notes: ['Links that are signed with the old secret end after the overlap.'],
  async run(context) {
    const rotation = { ...rotationOf(context), signal: context.world.signal }
    const hours = rotation.overlap_hours ?? DEFAULT_OVERLAP_HOURS
    if (hours > 0) context.note(`Links with the old secret work for ${hours} more hours. To end them now, add --overlap-hours 0 --force.`)
    printLinkSecret(context, await context.client().keys.rotateLinkSecret(context.argument(0), rotation))
  },
}

const usage: Command = {
  name: 'usage',
  summary: 'Shows the quota of the month and what is used',
  async run(context) {
    const found = await context.client().usage.get({ signal: context.world.signal })
    const { period, count, limit, percentage, remaining, reset_at, plan, rate_limit_per_minute: rate, overage } = found
    context.show(
      found,
      `month      ${period} (UTC)`,
      `used       ${count} of ${limit} units (${percentage}%)`,
      `remaining  ${remaining}, until ${formatTime(reset_at)} UTC`,
      `plan       ${plan}, ${rate === null ? 'no rate limit' : `${rate} requests per minute`}`,
      ...(overage ? [`overage    ${overage.count} units above the quota`] : []),
    )
  },
}

const webhooksList: Command = {
  name: 'webhooks list',
  summary: 'Lists the webhooks of the account',
  flags: [inactive],
  async run(context) {
    const query = { include_inactive: context.isOn('include-inactive'), signal: context.world.signal }
    const webhooks = await context.client().webhooks.list(query).toArray()
    context.showTable(webhooks, ['ID', 'NAME', 'ACTIVE', 'EVENTS', 'URL'], ({ id, name, is_active, events, url }) => [
      ...[id, name, is_active ? 'yes' : 'no', events.join(','), url ?? '-'],
    ])
  },
}

const webhooksTest: Command = {
  name: 'webhooks test',
  usage: 'ID',
  summary: 'Posts a sample event to a webhook',
  async run(context) {
    const result = await context.client().webhooks.test(context.argument(0), { signal: context.world.signal })
    context.show(result, `${result.message} (HTTP ${result.status_code}, ${result.response_time_ms} ms)`)
    return result.success ? EXIT.ok : EXIT.failed
  },
}

/** Commands about the account: API keys, quota and webhooks. */
export const accountCommands: readonly Command[] = [
  keysList,
  keysCreate,
  keysDelete,
  keysRotate,
  keysPolicy,
  keysCheckUrl,
  keysLinkSecret,
  keysRotateLinkSecret,
  usage,
  webhooksList,
  webhooksTest,
]
