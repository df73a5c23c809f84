import { z } from 'zod'
import { Conditions } from '../schema/conditions.ts'
import { type Definition, instant, Metadata, objectName } from '../schema/custom-resource.ts'

export const SCOPES = [
  '*',
  'screenshots:read',
  'screenshots:write',
  'webhooks:read',
  'webhooks:write',
  'keys:read',
  'keys:write',
  'usage:read',
] as const
export type Scope = (typeof SCOPES)[number]

export const ApiKeySpec = z.object({
  accountName: objectName('Account that the key acts for. Default: default.').optional(),
  name: z.string().min(1).max(100).describe('Name for people, at most 100 characters.').optional(),
  scopes: z.array(z.enum(SCOPES)).max(8).describe('What the key may do. Default: everything (*).').optional(),
  active: z.boolean().describe('False makes the key invalid. Default: true.').optional(),
  expiryTime: instant('When the key stops working; absent: never.').optional(),
  lastFour: z.string().max(4).describe('Last four characters of the key, to tell keys apart.').optional(),
  previous: z
    .object({
      lastFour: z.string().max(4).describe('Last four characters of the previous key.').optional(),
      expiryTime: instant('When the previous key, whose hash is the label tintype.dev/hash-2, stops working.'),
    })
    .describe('The key before the last rotation, while both are valid.')
    .optional(),
  secretName: objectName(
    'Secret in which the operator puts the key’s text (key api-key) that it makes for a key without hashes.',
  ).optional(),
  existingSecret: objectName(
    'Secret of type tintype.dev/api-key, with the account in its label tintype.dev/account (absent: default), whose key api-key holds the text; the operator only hashes it.',
  ).optional(),
  sealedLinkSecret: z
    .string()
    .max(1024)
    .describe('Secret of signed GET links, encrypted to the operator; set by the gateway only.')
    .optional(),
})
export type ApiKeySpec = z.infer<typeof ApiKeySpec>

export const ApiKeyStatus = z.object({
  lastUsedTime: instant('Last use, at most ten minutes old.').optional(),
  conditions: Conditions.describe('Ready: whether requests with the key are let in, and why not.').optional(),
})
export type ApiKeyStatus = z.infer<typeof ApiKeyStatus>

/** The hashes of the key's text are the labels `tintype.dev/hash-1` and `-2`; the text itself is nowhere. */
export const ApiKey = z.object({ metadata: Metadata, spec: ApiKeySpec, status: ApiKeyStatus.optional() })
export type ApiKey = z.infer<typeof ApiKey>

/** What a key may do: everything, unless it says otherwise. */
export const scopesOf = ({ spec: { scopes = ['*'] } }: Pick<ApiKey, 'spec'>): readonly Scope[] => scopes

export const apiKeyDefinition: Definition = {
  kind: 'ApiKey',
  plural: 'apikeys',
  singular: 'apikey',
  shortNames: ['key'],
  description: 'An ApiKey lets its bearer act for an account. Its labels hold hashes of the text, which is shown once and stored nowhere.',
  columns: [
    { name: 'Account', type: 'string', jsonPath: '.spec.accountName' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Ends in', type: 'string', jsonPath: '.spec.lastFour' },
    // A date is printed as an age: one that lies ahead would read <invalid>.
    { name: 'Expires', type: 'string', jsonPath: '.spec.expiryTime' },
    { name: 'Last used', type: 'date', jsonPath: '.status.lastUsedTime' },
    { name: 'Secret', type: 'string', jsonPath: '.spec.secretName', priority: 1 },
    { name: 'Name', type: 'string', jsonPath: '.spec.name', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: ApiKeySpec.describe('The account that the key acts for, and what the key may do.'),
  specRules: [{ rule: '!(has(self.secretName) && has(self.existingSecret))', message: 'name one of secretName and existingSecret' }],
  status: ApiKeyStatus.describe('Whether the key is valid, and when it was last used. Written by the operator and the gateway.'),
}
