// rbac: tintype.dev/apikeys get,list,watch,patch
// rbac: tintype.dev/apikeys/status patch
// rbac: tintype.dev/accounts get,list,watch
// rbac: /secrets get,create

/**
 * This controller observes ApiKeys and their Accounts. It writes the condition Ready, and completes keys that users apply: the text in a Secret,
 * its hash in a label. Keys that were created through the REST API have both. It may not watch Secrets, so it requeues a key without a
 * hash after 15 s, and reads the Secret of other keys every 30 s. Another text there replaces the hash. It requeues a key that expires at that time.
 */

import { keyOf } from '@tintype/crds/client/kube-object'
import { keyHash, newKeyText } from '@tintype/crds/crypto/api-keys'
import { Label } from '@tintype/crds/identifiers/names'
import { ApiKey, hashesOf } from '@tintype/crds/kinds/api-key'
import { accountOf } from '@tintype/crds/records/record'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import type { Requeue } from '../../controller-runtime/controller.ts'
import { type Clients, patchSeen, patchStatus } from '../../kube/clients.ts'
import { findLive, readObject } from '../../kube/read-object.ts'
import { ACCOUNT_INDEX, findAccount } from '../../kube/reflectors.ts'
import { createController, type Deps, inTerm, type StartedWork, startControllers, type TermDeps, type Work } from '../../runtime/deps.ts'
import { createSecret, type SecretStore } from '../../secrets/ensure-secret.ts'
import { type Action, buildKeySecret, decide, evaluateExistingSecret, evaluateOwnSecret, type KeySecret, type Observed } from './decide.ts'

const WORKERS = 2

/** Creates the controller. Call it once per process. */
export function createApiKeyController(deps: Deps): Work {
  deps.reflectors.apiKeys.lister.addIndex(HASH_INDEX, hashesOf).addIndex(ACCOUNT_INDEX, accountOf)
  return { start: (term) => startTerm(inTerm(deps, term)) }
}

function startTerm(deps: TermDeps): StartedWork {
  const { apiKeys, accounts } = deps.reflectors
  const controller = createController('apikey', { workers: WORKERS }, (key) => reconcile(key, deps), deps)
  controller.watch(apiKeys)
  controller.watch(accounts, ({ object }) => apiKeys.lister.byIndex(ACCOUNT_INDEX, object.metadata.name).map(keyOf))
  return startControllers([controller])
}

/** Reconciles one ApiKey. */
async function reconcile(key: string, deps: TermDeps): Promise<Requeue | undefined> {
  const observed = await observe(key, deps)
  return observed && apply(decide(observed, deps.now()), observed.key, deps.clients)
}

/** Index of ApiKeys by their hashes. */
const HASH_INDEX = 'hash'

/** Collects the state of an ApiKey; undefined when it is deleted. A key of the REST API names no Secret, and has a hash from the start. */
export async function observe(name: string, { reflectors, clients, config, now }: TermDeps): Promise<Observed | undefined> {
  const keys = reflectors.apiKeys.lister
  const cached = await findLive(name, { lister: keys, client: clients.apiKeys }, now())
  if (!cached) return undefined
  const key = readObject('ApiKey', ApiKey, cached)
  const own = hashesOf(key)
  return {
    key,
    account: findAccount(keyOf({ metadata: { ...key.metadata, name: accountOf(key) } }), reflectors.accounts.lister),
    secret: await findSecret(key, clients.secrets, config.release),
    isTaken: (hash) =>
      keys
        .byIndex(HASH_INDEX, hash)
        .some((other) => !isSameKey(other, key) && !isBeingDeleted(other) && (!own.includes(hash) || isOlder(other, key))),
  }
}

async function findSecret(key: ApiKey, secrets: Pick<SecretStore, 'find'>, release: string): Promise<KeySecret | undefined> {
  const { existingSecret, secretName } = key.spec
  if (existingSecret !== undefined) return evaluateExistingSecret(await secrets.find(existingSecret), key)
  return secretName === undefined ? undefined : evaluateOwnSecret(await secrets.find(secretName), key, release)
}

const isSameKey = (one: ApiKey, other: ApiKey): boolean => one.metadata.uid === other.metadata.uid

/** Uses the gateway's order: of two keys with the same text, the older one authenticates. */
function isOlder(one: ApiKey, other: ApiKey): boolean {
  const order = ({ metadata: { creationTimestamp, name } }: ApiKey): string => `${creationTimestamp}/${name}`
  return order(one) < order(other)
}

/**
 * Executes the actions. The Secret with the text is created before the hash is stored: after a crash in between, the text is found there.
 */
async function apply(actions: readonly Action[], key: ApiKey, clients: Clients): Promise<Requeue | undefined> {
  let requeue: Requeue | undefined
  for (const action of actions) {
    if (action.do === 'createSecret') await createText(key, clients)
    else if (action.do === 'label') await label(key, action.hash, action.lastFour, clients)
    else if (action.do === 'patchStatus') {
      const { conditions, secretText } = action
      await patchStatus(clients.apiKeys, key, { conditions, secretText })
    } else requeue = { requeueAfterMilliseconds: action.afterMilliseconds }
  }
  return requeue
}

async function createText(key: ApiKey, clients: Clients): Promise<void> {
  const text = newKeyText()
  await createSecret(clients.secrets, buildKeySecret(key, text))
  await label(key, keyHash(text), text.slice(-4), clients)
}

/** Stores the hash of the text. The text before it is no longer accepted. */
async function label(key: ApiKey, hash: string, lastFour: string, clients: Clients): Promise<void> {
  const labels = { [Label.keyHash1]: hash, [Label.keyHash2]: null }
  await patchSeen(clients.apiKeys, key, { metadata: { labels }, spec: { lastFour, previous: null } })
}
