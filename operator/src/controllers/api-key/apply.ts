import { isAlreadyExists, isInvalid, isNotFound } from '@tintype/crds/client/kube-error'
import { mergePatch } from '@tintype/crds/client/patch'
import type { Reflector } from '@tintype/crds/client/reflector'
import type { Resource } from '@tintype/crds/client/resource'
import { keyHash, newKeyText } from '@tintype/crds/crypto/key-text'
import { Label } from '@tintype/crds/identifiers/names'
import type { ApiKey, ApiKeyStatus } from '@tintype/crds/kinds/api-key'
import type { Requeue } from '../../controller-runtime/controller.ts'
import { RetryableError, TerminalError } from '../../controller-runtime/errors.ts'
import type { SecretStore } from '../../secrets/ensure-secret.ts'
import type { Action } from './decide.ts'
import { buildKeySecret } from './key-secret.ts'

export interface ApplyDeps {
  store: Pick<Resource<ApiKey>, 'patch'>
  /** Lets the cache see an own write at once. */
  seen: Pick<Reflector<ApiKey>, 'observe'>
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
    else if (action.do === 'patchStatus') await patch(key, { status: toStatus(action) }, 'status', deps)
    else requeue = { requeueAfterMilliseconds: action.afterMilliseconds }
  }
  return requeue
}

async function createText(key: ApiKey, deps: ApplyDeps): Promise<void> {
  const text = newKeyText()
  try {
    await deps.secrets.create(buildKeySecret(key, text), { namespace: key.metadata.namespace })
  } catch (error) {
    if (isAlreadyExists(error)) throw new RetryableError('a Secret with this name was just created', { cause: error })
    if (isInvalid(error)) throw new TerminalError('InvalidSecret', 'the API server rejected the Secret of the key', { cause: error })
    throw error
  }
  await label(key, keyHash(text), text.slice(-4), deps)
}

const toStatus = ({ conditions, secretText }: Action & { do: 'patchStatus' }): ApiKeyStatus => ({
  conditions,
  ...(secretText === undefined ? {} : { secretText }),
})

/** Stores the hash of the text. The text before it is no longer accepted. */
const label = (key: ApiKey, hash: string, lastFour: string, deps: ApplyDeps): Promise<void> =>
  patch(
    key,
    { metadata: { labels: { [Label.keyHash1]: hash, [Label.keyHash2]: null } }, spec: { lastFour, previous: null } },
    undefined,
    deps,
  )

async function patch(
  key: ApiKey,
  body: Record<string, unknown>,
  subresource: 'status' | undefined,
  { store, seen }: ApplyDeps,
): Promise<void> {
  const { name, namespace, resourceVersion } = key.metadata
  try {
    const options = { namespace, ...(subresource ? { subresource } : {}) }
    seen.observe(await store.patch(name, mergePatch(body, { resourceVersion }), options))
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
