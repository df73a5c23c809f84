// Decides what an ApiKey that a user applied needs: the hash of its text as a label, and its Ready condition. Pure.

import type { Secret } from '@tintype/crds/client/kinds'
import type { NewObject } from '@tintype/crds/client/resource'
import { isKeyText, keyHash } from '@tintype/crds/crypto/api-keys'
import { API_VERSION, DEFAULT_ACCOUNT, Label, secretNames } from '@tintype/crds/identifiers/names'
import type { Account } from '@tintype/crds/kinds/account'
import { type ApiKey, hashesOf, type SecretText } from '@tintype/crds/kinds/api-key'
import { accountOf } from '@tintype/crds/records/record'
import { type Condition, ConditionType, findCondition, isSameCondition, setCondition } from '@tintype/crds/schema/conditions'

export interface Observed {
  key: ApiKey
  account: Account | undefined
  /** The Secret that it names; absent when it names none. */
  secret: KeySecret | undefined
  /** True when an older key has the same text. */
  isTaken: (hash: string) => boolean
}

export type Action =
  | { do: 'createSecret' }
  | { do: 'label'; hash: string; lastFour: string }
  | { do: 'patchStatus'; conditions: Condition[]; secretText: SecretText | undefined }
  | { do: 'requeue'; afterMilliseconds: number }

type Finding = Pick<Condition, 'status' | 'reason' | 'message'>

/** The operator may read Secrets by name but may not watch them. */
const RECHECK_MILLISECONDS = 15_000
const REREAD_MILLISECONDS = 30_000
const LEFTOVER_MILLISECONDS = 2_000
/** Longest delay of a timer. Later expiry times are checked again after it. */
const MAX_WAIT_MILLISECONDS = 86_400_000

export function decide(observed: Observed, now: Date): Action[] {
  const { key } = observed
  const actions = [...toText(observed), ...toWait(observed, now)]
  // A key that gets its text in this step gets its condition in the next reconcile, when the write is in the cache.
  if (actions.some((action) => action.do === 'label' || action.do === 'createSecret')) return actions
  const secretText = toSecretText(observed, now)
  const finding = evaluateText(observed) ?? evaluateKey(observed, now) ?? evaluateSecret(observed, secretText)
  const conditions = toConditions(key, finding, now)
  const isSame = isSameCondition(findCondition(key.status?.conditions, ConditionType.ready), conditions.at(-1))
  const isRead = secretText?.hash === key.status?.secretText?.hash
  return [...(isSame && isRead ? [] : [{ do: 'patchStatus' as const, conditions, secretText }]), ...actions]
}

const hasHash = (key: ApiKey): boolean => hashesOf(key).length > 0

const hashIn = (secret: KeySecret | undefined): string | undefined => (secret?.state === 'usable' ? keyHash(secret.text) : undefined)

/**
 * The hash of a text that the Secret did not have before. A rotation over REST changes the key and not its Secret. The text there is then an old one,
 * which must not return.
 */
function findNewHash({ key, secret }: Observed): string | undefined {
  const hash = hashIn(secret)
  if (!hasHash(key)) return hash
  const known = key.status?.secretText
  return known === undefined || known.hash === hash || (hash !== undefined && hashesOf(key).includes(hash)) ? undefined : hash
}

function toText(observed: Observed): Action[] {
  const { key, secret, isTaken } = observed
  if (!hasHash(key) && secret?.state === 'missing' && key.spec.existingSecret === undefined) return [{ do: 'createSecret' }]
  const hash = findNewHash(observed)
  if (hash === undefined || secret?.state !== 'usable' || isTaken(hash)) return []
  return [{ do: 'label', hash, lastFour: secret.text.slice(-4) }]
}

/** The text that was read last. A text that is taken is not remembered, so that it is tried again. */
function toSecretText(observed: Observed, now: Date): SecretText | undefined {
  const hash = hashIn(observed.secret)
  const known = observed.key.status?.secretText
  if (hash === undefined || hash === known?.hash || findNewHash(observed) !== undefined) return known
  return { hash, since: now.toISOString() }
}

function toWait({ key, secret }: Observed, now: Date): Action[] {
  if (!hasHash(key) && secret !== undefined) {
    return [{ do: 'requeue', afterMilliseconds: secret.state === 'leftover' ? LEFTOVER_MILLISECONDS : RECHECK_MILLISECONDS }]
  }
  const leftMilliseconds = key.spec.expiryTime === undefined ? 0 : new Date(key.spec.expiryTime).getTime() - now.getTime()
  const waits = [...(leftMilliseconds > 0 ? [leftMilliseconds] : []), ...(secret === undefined ? [] : [REREAD_MILLISECONDS])]
  return waits.length > 0 ? [{ do: 'requeue', afterMilliseconds: Math.min(...waits, MAX_WAIT_MILLISECONDS) }] : []
}

const refused = (reason: string, message: string): Finding => ({ status: 'False', reason, message })

/** Returns why the key has no usable text. */
function evaluateText({ key, secret, isTaken }: Observed): Finding | undefined {
  const hash = hashesOf(key)[0] ?? hashIn(secret)
  if (hash !== undefined) return isTaken(hash) ? refused('TextTaken', 'An older ApiKey has the same text. Use another text.') : undefined
  const { existingSecret, secretName } = key.spec
  if (existingSecret !== undefined) return refusedSecret(key, existingSecret, secret)
  if (secretName === undefined)
    return refused('NoText', 'No Secret is named. Set secretName to have a key generated, or existingSecret to use yours.')
  if (secret?.state === 'leftover')
    return refused('SecretLeftover', `The Secret ${secretName} of a deleted ApiKey still exists. Kubernetes deletes it soon.`)
  return refused('SecretConflict', `The Secret ${secretName} already exists. Choose another secretName.`)
}

function refusedSecret(key: ApiKey, name: string, secret: KeySecret | undefined): Finding {
  return secret?.state === 'malformed'
    ? refused('SecretMalformed', `The key api-key of the Secret ${name} is not an API key. Create one with the operator’s command new-key.`)
    : refused('SecretNotFound', `No Secret ${name} exists with type tintype.dev/api-key and label tintype.dev/account=${accountOf(key)}.`)
}

/** Returns why no request with the key is accepted. */
function evaluateKey({ key: { spec }, account }: Observed, now: Date): Finding | undefined {
  const name = accountOf({ spec })
  if (!account) return refused('NoAccount', `Account ${name} does not exist, or was deleted.`)
  if (account.spec.suspended) return refused('AccountSuspended', `Account ${name} is suspended.`)
  if (spec.active === false) return refused('Inactive', 'spec.active is false.')
  if (spec.expiryTime !== undefined && new Date(spec.expiryTime) <= now) return refused('Expired', `The key expired at ${spec.expiryTime}.`)
  return undefined
}

/** Says which text of the key is accepted. A key keeps its text while its Secret has no better one. The generated Secret may be deleted. */
function evaluateSecret(observed: Observed, secretText: SecretText | undefined): Finding {
  const { key, secret } = observed
  const { existingSecret, secretName } = key.spec
  const accepted = (reason: string, message: string): Finding => ({ status: 'True', reason, message })
  if (existingSecret !== undefined && secret?.state !== 'usable') {
    const { reason, message } = refusedSecret(key, existingSecret, secret)
    return accepted(reason, `${message} Requests with the last text are still accepted.`)
  }
  if (findNewHash(observed) !== undefined) {
    return accepted('TextTaken', 'The new text in the Secret is that of an older ApiKey. Requests with the last text are still accepted.')
  }
  const isInUse = secretText !== undefined && secretText.hash === hashesOf(key)[0]
  const since = isInUse ? ` The text of the Secret ${existingSecret ?? secretName} is accepted since ${secretText.since}.` : ''
  return accepted('Usable', `Requests with this key are accepted.${since}`)
}

function toConditions({ metadata, status }: ApiKey, finding: Finding, now: Date): Condition[] {
  return setCondition(
    status?.conditions ?? [],
    { type: ConditionType.ready, ...finding, observedGeneration: metadata.generation ?? 0 },
    now,
  )
}

/** Type of Secrets that hold a key text. Secrets of other types are never read: the spec of an ApiKey must not lead to a foreign Secret. */
const API_KEY_SECRET_TYPE = 'tintype.dev/api-key'

const DATA_KEY = 'api-key'

/** Builds the Secret with the generated text of a key. Kubernetes deletes it together with the key. */
export function buildKeySecret({ metadata, spec }: ApiKey, text: string): NewObject<Secret> {
  const { name, uid } = metadata
  return {
    metadata: {
      name: spec.secretName ?? name,
      labels: { [Label.account]: accountOf({ spec }) },
      ownerReferences: [{ apiVersion: API_VERSION, kind: 'ApiKey', name, uid, controller: true, blockOwnerDeletion: false }],
    },
    type: API_KEY_SECRET_TYPE,
    data: { [DATA_KEY]: Buffer.from(text).toString('base64') },
  }
}

/**
 * State of the Secret that an ApiKey names. `foreign`: it may not be used, and the condition does not say why, because users who may create
 * ApiKeys must not learn about other Secrets. `leftover`: it belongs to a deleted ApiKey of the same name and is about to be deleted.
 */
export type KeySecret = { state: 'missing' | 'foreign' | 'leftover' | 'malformed' } | { state: 'usable'; text: string }

/**
 * Evaluates the Secret that the operator creates: only a Secret that it created for this very key is usable. It never creates one under the name of
 * a Secret of the release, which is missing for a moment while an administrator rotates it.
 */
export function evaluateOwnSecret(secret: Secret | undefined, key: ApiKey, release: string): KeySecret {
  if (Object.values(secretNames(release)).some((name) => name === key.spec.secretName)) return { state: 'foreign' }
  if (!secret) return { state: 'missing' }
  const owner = ownerOf(secret)
  if (secret.type !== API_KEY_SECRET_TYPE || owner === undefined) return { state: 'foreign' }
  if (owner.uid === key.metadata.uid) return toUsable(secret)
  return { state: owner.name === key.metadata.name ? 'leftover' : 'foreign' }
}

/** Evaluates a Secret that a user created: its account label must match, and it must not belong to another key. */
export function evaluateExistingSecret(secret: Secret | undefined, key: ApiKey): KeySecret {
  if (!secret) return { state: 'missing' }
  const owner = ownerOf(secret)
  const account = secret.metadata.labels?.[Label.account] ?? DEFAULT_ACCOUNT
  const isOurs = secret.type === API_KEY_SECRET_TYPE && account === accountOf(key) && (!owner || owner.uid === key.metadata.uid)
  return isOurs ? toUsable(secret) : { state: 'foreign' }
}

const ownerOf = ({ metadata }: Secret) => metadata.ownerReferences?.find(({ kind }) => kind === 'ApiKey')

function toUsable({ data }: Secret): KeySecret {
  const text = Buffer.from(data?.[DATA_KEY] ?? '', 'base64')
    .toString('utf8')
    .trim()
  return isKeyText(text) ? { state: 'usable', text } : { state: 'malformed' }
}
