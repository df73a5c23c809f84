import { keyHash, newKeyText } from '@tintype/crds/crypto/api-keys'
import { Label } from '@tintype/crds/identifiers/names'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import type { Requeue } from '../../controller-runtime/controller.ts'
import type { Clients } from '../../kube/clients.ts'
import { patchSeen, patchStatus } from '../../kube/patch-seen.ts'
import { createSecret } from '../../secrets/ensure-secret.ts'
import type { Action } from './decide.ts'
import { buildKeySecret } from './key-secret.ts'

/**
 * Executes the actions. The Secret with the text is created before the hash is stored: after a crash in between, the text is found there.
 */
export async function apply(actions: readonly Action[], key: ApiKey, clients: Clients): Promise<Requeue | undefined> {
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
