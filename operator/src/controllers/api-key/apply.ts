import { keyHash, newKeyText } from '@tintype/crds/crypto/key-text'
import { Label } from '@tintype/crds/identifiers/names'
import type { ApiKey, ApiKeyStatus } from '@tintype/crds/kinds/api-key'
import type { Requeue } from '../../controller-runtime/controller.ts'
import { patchSeen, patchStatus, type Writer } from '../../kube/patch-seen.ts'
import { createSecret, type SecretStore } from '../../secrets/ensure-secret.ts'
import type { Action } from './decide.ts'
import { buildKeySecret } from './key-secret.ts'

export interface ApplyDeps extends Writer<ApiKey> {
  secrets: SecretStore
}

/**
 * Executes the actions. The Secret with the text is created before the hash is stored: after a crash in between, the text is found there.
 */
export async function apply(actions: readonly Action[], key: ApiKey, deps: ApplyDeps): Promise<Requeue | undefined> {
  let requeue: Requeue | undefined
  for (const action of actions) {
    if (action.do === 'createSecret') await createText(key, deps)
    else if (action.do === 'label') await label(key, action.hash, action.lastFour, deps)
    else if (action.do === 'patchStatus') await patchStatus(key, toStatus(action), deps)
    else requeue = { requeueAfterMilliseconds: action.afterMilliseconds }
  }
  return requeue
}

async function createText(key: ApiKey, deps: ApplyDeps): Promise<void> {
  const text = newKeyText()
  await createSecret(deps.secrets, buildKeySecret(key, text), { namespace: key.metadata.namespace })
  await label(key, keyHash(text), text.slice(-4), deps)
}

const toStatus = ({ conditions, secretText }: Action & { do: 'patchStatus' }): ApiKeyStatus => ({
  conditions,
  ...(secretText === undefined ? {} : { secretText }),
})

/** Stores the hash of the text. The text before it is no longer accepted. */
async function label(key: ApiKey, hash: string, lastFour: string, deps: ApplyDeps): Promise<void> {
  const labels = { [Label.keyHash1]: hash, [Label.keyHash2]: null }
  await patchSeen(key, { metadata: { labels }, spec: { lastFour, previous: null } }, deps)
}
