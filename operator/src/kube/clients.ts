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
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import type { KubeObject } from '@tintype/crds/client/kube-object'
import type { Reflector } from '@tintype/crds/client/reflector'
import { Resource, type ResourceDefinition } from '@tintype/crds/client/resource'
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
