// Decides what an ApiKey that a user applied needs: the hash of its text as a label, and its Ready condition. Pure.

import { keyHash } from '@tintype/crds/crypto/key-text'
import { Label } from '@tintype/crds/identifiers/names'
import type { Account } from '@tintype/crds/kinds/account'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import { accountOf } from '@tintype/crds/records/record'
import { type Condition, ConditionType, findCondition, isSameCondition, setCondition } from '@tintype/crds/schema/conditions'
import type { KeySecret } from './key-secret.ts'

export interface Observed {
  key: ApiKey
  account: Account | undefined
  /** The Secret that it names; absent when the key has its hash already or names no Secret. */
  secret: KeySecret | undefined
  /** True when an older key has the same text. */
  isTaken: (hash: string) => boolean
}

export type Action =
  | { do: 'createSecret' }
  | { do: 'label'; hash: string; lastFour: string }
  | { do: 'patchStatus'; conditions: Condition[] }
  | { do: 'requeue'; afterMilliseconds: number }

type Finding = Pick<Condition, 'status' | 'reason' | 'message'>

/** The operator may read Secrets by name but may not watch them. */
const RECHECK_MILLISECONDS = 15_000
const LEFTOVER_MILLISECONDS = 2_000
/** Longest delay of a timer. Later expiry times are checked again after it. */
const MAX_WAIT_MILLISECONDS = 86_400_000

export function decide(observed: Observed, now: Date): Action[] {
  const { key, secret } = observed
  const actions = [...(hashOf(key) === undefined ? toText(observed) : []), ...toWait(observed, now)]
  // A key that is created in this step gets its condition in the next reconcile, when the write is in the cache.
  if (actions.some((action) => action.do === 'label' || action.do === 'createSecret')) return actions
  const finding = evaluateText(key, secret, observed.isTaken) ?? evaluateKey(observed, now)
  const conditions = toConditions(key, finding, now)
  const isSame = isSameCondition(findCondition(key.status?.conditions, ConditionType.ready), conditions.at(-1))
  return [...(isSame ? [] : [{ do: 'patchStatus' as const, conditions }]), ...actions]
}

const hashOf = ({ metadata: { labels } }: ApiKey): string | undefined => labels?.[Label.keyHash1] ?? labels?.[Label.keyHash2]

function toText({ key, secret, isTaken }: Observed): Action[] {
  if (secret?.state === 'missing' && key.spec.existingSecret === undefined) return [{ do: 'createSecret' }]
  if (secret?.state !== 'usable') return []
  const hash = keyHash(secret.text)
  return isTaken(hash) ? [] : [{ do: 'label', hash, lastFour: secret.text.slice(-4) }]
}

function toWait({ key, secret }: Observed, now: Date): Action[] {
  if (secret?.state === 'leftover') return [{ do: 'requeue', afterMilliseconds: LEFTOVER_MILLISECONDS }]
  if (hashOf(key) === undefined && secret !== undefined) return [{ do: 'requeue', afterMilliseconds: RECHECK_MILLISECONDS }]
  const leftMilliseconds = key.spec.expiryTime === undefined ? 0 : new Date(key.spec.expiryTime).getTime() - now.getTime()
  return leftMilliseconds > 0 ? [{ do: 'requeue', afterMilliseconds: Math.min(leftMilliseconds, MAX_WAIT_MILLISECONDS) }] : []
}

const refused = (reason: string, message: string): Finding => ({ status: 'False', reason, message })

/** Returns why the key has no usable text. */
function evaluateText(key: ApiKey, secret: KeySecret | undefined, isTaken: Observed['isTaken']): Finding | undefined {
  const hash = hashOf(key) ?? (secret?.state === 'usable' ? keyHash(secret.text) : undefined)
  if (hash !== undefined) return isTaken(hash) ? refused('TextTaken', 'An older ApiKey has the same text. Use another text.') : undefined
  const { existingSecret, secretName } = key.spec
  if (existingSecret !== undefined) {
    return secret?.state === 'malformed'
      ? refused(
          'SecretMalformed',
          `The key api-key of the Secret ${existingSecret} is not an API key. Create one with the operator’s command new-key.`,
        )
      : refused(
          'SecretNotFound',
          `No Secret ${existingSecret} exists with type tintype.dev/api-key and label tintype.dev/account=${accountOf(key)}.`,
        )
  }
  if (secretName === undefined)
    return refused('NoText', 'No Secret is named. Set secretName to have a key generated, or existingSecret to use yours.')
  if (secret?.state === 'leftover')
    return refused('SecretLeftover', `The Secret ${secretName} of a deleted ApiKey still exists. Kubernetes deletes it soon.`)
  return refused('SecretConflict', `The Secret ${secretName} already exists. Choose another secretName.`)
}

function evaluateKey({ key: { spec }, account }: Observed, now: Date): Finding {
  const name = accountOf({ spec })
  if (!account) return refused('NoAccount', `Account ${name} does not exist.`)
  if (account.spec.suspended) return refused('AccountSuspended', `Account ${name} is suspended.`)
  if (spec.active === false) return refused('Inactive', 'spec.active is false.')
  if (spec.expiryTime !== undefined && new Date(spec.expiryTime) <= now) return refused('Expired', `The key expired at ${spec.expiryTime}.`)
  return { status: 'True', reason: 'Usable', message: 'Requests with this key are accepted.' }
}

function toConditions({ metadata, status }: ApiKey, finding: Finding, now: Date): Condition[] {
  return setCondition(
    status?.conditions ?? [],
    { type: ConditionType.ready, ...finding, observedGeneration: metadata.generation ?? 0 },
    now,
  )
}
