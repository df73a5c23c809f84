import {
  accounts,
  accountUsages,
  apiKeys,
  leases,
  pods,
  runnerPools,
  screenshotSchedules,
  screenshots,
  secrets,
  tokenReviews,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  webhooks,
} from '@tintype/crds/client/kinds'
import { isNotFound } from '@tintype/crds/client/kube-error'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import type { KubeObject } from '@tintype/crds/client/kube-object'
import type { Reflector } from '@tintype/crds/client/reflector'
import { mergePatch, Resource, type ResourceDefinition } from '@tintype/crds/client/resource'
import type { Reflectors } from './reflectors.ts'

export type Clients = ReturnType<typeof createClients>

/** Creates the clients of a term, in the namespace of the release. What they write is in the informer cache of its kind at once. */
export function createClients(http: KubeHttp, reflectors: Reflectors) {
  const cached = <T extends KubeObject>(definition: ResourceDefinition<T>, cache: Reflector<T>) =>
    new Resource(http, definition, { onWritten: (written) => cache.noteWritten(written) })
  return {
    screenshots: cached(screenshots, reflectors.screenshots),
    schedules: cached(screenshotSchedules, reflectors.schedules),
    webhooks: cached(webhooks, reflectors.webhooks),
    pools: cached(runnerPools, reflectors.pools),
    pods: cached(pods, reflectors.pods),
    accounts: cached(accounts, reflectors.accounts),
    apiKeys: cached(apiKeys, reflectors.apiKeys),
    usages: cached(accountUsages, reflectors.usages),
    leases: new Resource(http, leases),
    secrets: new Resource(http, secrets),
    tokenReviews: new Resource(http, tokenReviews),
    policies: new Resource(http, validatingAdmissionPolicies),
    policyBindings: new Resource(http, validatingAdmissionPolicyBindings),
  }
}

interface PatchOptions {
  subresource?: 'status'
  signal?: AbortSignal | undefined
}

/** A client that writes objects of a kind. */
export type Patcher<T extends KubeObject> = Pick<Resource<T>, 'patch'>

/**
 * Writes a merge patch to an object that has not changed since it was read. Returns the object as it was written; undefined if it was
 * deleted. @throws KubeError Conflict if it has changed: the controller reconciles it again
 */
export async function patchSeen<T extends KubeObject>(
  client: Patcher<T>,
  { metadata: { name, resourceVersion } }: KubeObject,
  body: object,
  options: PatchOptions = {},
): Promise<T | undefined> {
  try {
    return await client.patch(name, mergePatch({ ...body }, { resourceVersion }), options)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** The same for the status. */
export const patchStatus = <T extends KubeObject>(
  client: Patcher<T>,
  object: KubeObject,
  status: object,
  signal?: AbortSignal,
): Promise<T | undefined> => patchSeen(client, object, { status }, { subresource: 'status', signal })
