// rbac: tintype.dev/accounts list,create
// rbac: tintype.dev/apikeys create
// rbac: /secrets get,create

// Creates the first account of an installation. The order makes it safe to stop at any point: first the Secret with the key text, then the
// ApiKey with its hash, the Account last. While no Account exists, the next leader starts again, reads the existing key text and creates
// what is missing. Once an Account exists, nothing is created again, so the Secret may be deleted after use.

import { isAlreadyExists } from '@tintype/crds/client/kube-error'
import type { NewObject, Resource } from '@tintype/crds/client/resource'
import { isKeyText, keyHash, newKeyText } from '@tintype/crds/crypto/api-keys'
import { DEFAULT_ACCOUNT, Label, secretNames } from '@tintype/crds/identifiers/names'
import type { Account, Plan } from '@tintype/crds/kinds/account'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import { TerminalError } from '../../controller-runtime/controller.ts'
import { ensureSecret, releaseLabels, type SecretStore } from '../../secrets/ensure-secret.ts'

export interface BootstrapStores {
  accounts: Pick<Resource<Account>, 'list' | 'create'>
  apiKeys: Pick<Resource<ApiKey>, 'create'>
  secrets: SecretStore
}

export interface BootstrapSettings {
  release: string
  /** Plan of the first account. */
  plan: Plan
}

const HASH_LETTERS_IN_NAME = 10

/** Builds the ApiKey of a key text. Its name is derived from the text, so that a retry finds the existing object. */
export function toFirstApiKey(text: string, release: string): NewObject<ApiKey> {
  const hash = keyHash(text)
  return {
    metadata: {
      name: `initial-${hash.slice(0, HASH_LETTERS_IN_NAME)}`,
      labels: { ...releaseLabels(release), [Label.keyHash1]: hash },
    },
    spec: { accountName: DEFAULT_ACCOUNT, name: 'initial', lastFour: text.slice(-4) },
  }
}

/** Builds the default account, which owns all objects that name no account. */
export function toFirstAccount({ release, plan }: BootstrapSettings): NewObject<Account> {
  return { metadata: { name: DEFAULT_ACCOUNT, labels: releaseLabels(release) }, spec: { plan, displayName: 'Default' } }
}

/**
 * Creates the Secret, the ApiKey and the Account if no Account exists yet.
 * @returns true when it created the Account
 * @throws TerminalError when the Secret exists but holds no key
 */
export async function bootstrapAccount(stores: BootstrapStores, settings: BootstrapSettings): Promise<boolean> {
  const { items } = await stores.accounts.list({ limit: 1 })
  if (items.length > 0) return false
  const text = await ensureKeyText(stores.secrets, settings.release)
  await createUnlessThere(() => stores.apiKeys.create(toFirstApiKey(text, settings.release)))
  return createUnlessThere(() => stores.accounts.create(toFirstAccount(settings)))
}

async function ensureKeyText(secrets: SecretStore, release: string): Promise<string> {
  const name = secretNames(release).initialApiKey
  const data = await ensureSecret(secrets, { name, labels: releaseLabels(release), build: () => ({ 'api-key': newKeyText() }) })
  const text = data['api-key']?.trim() ?? ''
  if (isKeyText(text)) return text
  throw new TerminalError('InvalidSecret', `the Secret ${name} has no API key under api-key. Delete it, and the operator creates a new one`)
}

async function createUnlessThere(create: () => Promise<unknown>): Promise<boolean> {
  try {
    await create()
    return true
  } catch (error) {
    if (isAlreadyExists(error)) return false
    throw error
  }
}
