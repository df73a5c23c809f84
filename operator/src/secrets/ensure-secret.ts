import type { Secret } from '@tintype/crds/client/kinds'
import { isAlreadyExists, isInvalid } from '@tintype/crds/client/kube-error'
import type { NewObject, Resource } from '@tintype/crds/client/resource'
import { RetryableError, TerminalError } from '../controller-runtime/controller.ts'

/** The permissions that the operator has on Secrets. It can only read Secrets whose name it knows. */
export type SecretStore = Pick<Resource<Secret>, 'get' | 'find' | 'create'>

/** A Secret that must exist. `build` is called only when it does not exist. */
export interface WantedSecret {
  name: string
  labels: Record<string, string>
  build: () => Record<string, string>
}

/** The data of a Secret as text. */
export function toText({ data = {} }: Secret): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]))
}

/**
 * Returns the data of the Secret and creates it first if necessary. If two operators create it at the same time, the slower one reads the
 * existing Secret. An existing Secret is never overwritten.
 */
export async function ensureSecret(secrets: SecretStore, { name, labels, build }: WantedSecret): Promise<Record<string, string>> {
  const existing = await secrets.find(name)
  if (existing) return toText(existing)
  try {
    return toText(await secrets.create({ metadata: { name, labels }, type: 'Opaque', data: toData(build()) }))
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    return toText(await secrets.get(name))
  }
}

/** Creates the Secret of an object. @throws RetryableError if it was just created; TerminalError if the API server rejects it */
export async function createSecret(secrets: Pick<SecretStore, 'create'>, secret: NewObject<Secret>, signal?: AbortSignal): Promise<void> {
  try {
    await secrets.create(secret, { signal })
  } catch (error) {
    if (isAlreadyExists(error)) throw new RetryableError('a Secret with this name was just created', { cause: error })
    if (isInvalid(error)) throw new TerminalError('InvalidSecret', 'the API server rejected the Secret', { cause: error })
    throw error
  }
}

// `stringData` would work for the request, but the response, which is returned to callers, contains only `data`.
const toData = (texts: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]))

/** Labels of objects that the operator creates for a release, so that `kubectl get secrets -l app.kubernetes.io/instance=…` finds them. */
export const releaseLabels = (release: string): Record<string, string> => ({
  'app.kubernetes.io/name': 'tintype',
  'app.kubernetes.io/instance': release,
  'app.kubernetes.io/managed-by': 'tintype-operator',
})
