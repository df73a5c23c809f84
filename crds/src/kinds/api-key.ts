import { z } from 'zod'
import { Label } from '../identifiers/names.ts'
import { Conditions } from '../schema/conditions.ts'
import { type Definition, displayName, instant, Metadata, objectName } from '../schema/custom-resource.ts'
import { CapturePolicySpec, hostPatterns, optionNames } from './capture-policy.ts'

/** Scopes that an API key of an account can grant. `*` contains all of them. */
export const SCOPES = [
  '*',
  'screenshots:read',
  'screenshots:write',
  'webhooks:read',
  'webhooks:write',
  'schedules:read',
  'schedules:write',
  'keys:read',
  'keys:write',
  'usage:read',
] as const

/** Scopes over all accounts. `*` does not contain them, and the REST API does not grant them. */
export const ADMIN_SCOPES = ['admin:read'] as const

export const ALL_SCOPES = [...SCOPES, ...ADMIN_SCOPES] as const
export type Scope = (typeof ALL_SCOPES)[number]

const isAdminScope = (scope: Scope): boolean => ADMIN_SCOPES.some((admin) => admin === scope)

/** True if scopes contain another one. */
export const hasScope = (scopes: readonly Scope[], wanted: Scope): boolean =>
  scopes.includes(wanted) || (scopes.includes('*') && !isAdminScope(wanted))

/** The scopes within an account. */
export const accountScopes = (scopes: readonly Scope[]): readonly Scope[] => scopes.filter((scope) => !isAdminScope(scope))

/** The largest integer of Kubernetes' int32. */
const MAX_LINK_SECRET_VERSION = 2_147_483_647

const linkSecretVersion = z.int().min(1).max(MAX_LINK_SECRET_VERSION)

/** The secret itself is derived: crypto/api-keys.ts. */
const LinkSecretSpec = z.object({
  version: linkSecretVersion.describe('Version of the current secret. Default: 1.'),
  previous: z
    .object({
      version: linkSecretVersion.describe('Version of the previous secret.'),
      expiryTime: instant('Time at which links signed with the previous secret stop working.'),
    })
    .describe('Secret before the last rotation, while both are valid.')
    .optional(),
})

export const LinkPolicySpec = z.object({
  allowedHosts: hostPatterns('Hosts of pages that links may capture').optional(),
  allowOwnMarkup: z
    .boolean()
    .describe(
      'Whether links may have markup of their own: html, markdown, styles, styleUrls, pdfHeaderTemplate and pdfFooterTemplate. Absent: only if allowedHosts is absent.',
    )
    .optional(),
  allowedOptions: optionNames(
    'Names of options that links may have, such as viewportWidth. Absent: all that links support; an empty list: none.',
  ).optional(),
})
export type LinkPolicySpec = z.infer<typeof LinkPolicySpec>

export const ApiKeySpec = z.object({
  accountName: objectName('Account that the key acts for. Default: default.').optional(),
  name: displayName('Name for people, at most 100 characters.').optional(),
  scopes: z
    .array(z.enum(ALL_SCOPES))
    .max(ALL_SCOPES.length)
    .describe('Scopes of the key. admin:read covers all accounts; * does not contain it. Default: everything in the account (*).')
    .optional(),
  active: z.boolean().describe('If false, requests with the key are refused. Default: true.').optional(),
  expiryTime: instant('Time at which the key expires; absent: never.').optional(),
  lastFour: z.string().max(4).describe('Last four characters of the key, to distinguish keys.').optional(),
  previous: z
    .object({
      lastFour: z.string().max(4).describe('Last four characters of the previous key.').optional(),
      expiryTime: instant('Time at which the previous key expires. Its hash is in the label tintype.dev/hash-2.'),
    })
    .describe('Key before the last rotation, while both are valid.')
    .optional(),
  secretName: objectName(
    'Name of the Secret to create for a key without hashes. The operator generates the key’s text and stores it in the Secret’s key api-key.',
  ).optional(),
  existingSecret: objectName(
    'Name of a Secret of type tintype.dev/api-key that contains the key’s text in its key api-key. Its label tintype.dev/account names the account (absent: default). The operator stores only hashes of the text.',
  ).optional(),
  linkSecret: LinkSecretSpec.describe('Version of the secret that signs links of the key. A new version replaces the secret.').optional(),
  linkPolicy: LinkPolicySpec.describe('What signed links of the key may capture. Absent: no limits.').optional(),
  capturePolicy: CapturePolicySpec.describe('What captures of the key may show and request, links included. Absent: no limits.').optional(),
})
export type ApiKeySpec = z.infer<typeof ApiKeySpec>

export const SecretText = z.object({
  hash: z.string().max(63).describe('Hash of the text.'),
  since: instant('When the operator first read this text.'),
})
export type SecretText = z.infer<typeof SecretText>

export const ApiKeyStatus = z.object({
  lastUsedTime: instant('Time of the last use, accurate to ten minutes.').optional(),
  sessionsNotBefore: instant('Sessions of the web console that began up to this time have ended.').optional(),
  secretText: SecretText.describe(
    'Text that the operator read last in the Secret that the key names. The operator reads the Secret every 30 seconds, and another text replaces the key’s text.',
  ).optional(),
  conditions: Conditions.describe('Condition Ready: whether requests with the key are accepted.').optional(),
})
export type ApiKeyStatus = z.infer<typeof ApiKeyStatus>

/** The labels `tintype.dev/hash-1` and `-2` contain hashes of the key's text. The text itself is not stored. */
export const ApiKey = z.object({ metadata: Metadata, spec: ApiKeySpec, status: ApiKeyStatus.optional() })
export type ApiKey = z.infer<typeof ApiKey>

/** The scopes of a key. By default a key may do everything. */
export const scopesOf = ({ spec: { scopes = ['*'] } }: Pick<ApiKey, 'spec'>): readonly Scope[] => scopes

/** The hashes of an ApiKey. There are two during a rotation. */
export const hashesOf = ({ metadata: { labels = {} } }: Pick<ApiKey, 'metadata'>): string[] =>
  [labels[Label.keyHash1], labels[Label.keyHash2]].filter((hash) => hash !== undefined)

export const apiKeyDefinition: Definition = {
  kind: 'ApiKey',
  plural: 'apikeys',
  singular: 'apikey',
  shortNames: ['key'],
  description: 'An ApiKey lets its bearer act for an account. Its labels contain hashes of the text, which is shown once and not stored.',
  columns: [
    { name: 'Account', type: 'string', jsonPath: '.spec.accountName' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Ends in', type: 'string', jsonPath: '.spec.lastFour' },
    // kubectl prints a date as an age, and a future date as <invalid>.
    { name: 'Expires', type: 'string', jsonPath: '.spec.expiryTime' },
    { name: 'Last used', type: 'date', jsonPath: '.status.lastUsedTime' },
    { name: 'Secret', type: 'string', jsonPath: '.spec.secretName', priority: 1 },
    { name: 'Name', type: 'string', jsonPath: '.spec.name', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: ['.spec.accountName'],
  spec: ApiKeySpec.describe('Account that the key acts for, and its scopes.'),
  specRules: [
    {
      rule: '!(has(self.secretName) && has(self.existingSecret))',
      message: 'secretName and existingSecret exclude each other: leave one of them out',
    },
  ],
  status: ApiKeyStatus.describe('State of the key. Written by the operator and the gateway.'),
}
