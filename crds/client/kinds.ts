import type {
  AuthenticationV1TokenRequest,
  CoreV1Event,
  V1ConfigMap,
  V1CustomResourceDefinition,
  V1Lease,
  V1Namespace,
  V1Node,
  V1Pod,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1TokenReview,
  V1ValidatingAdmissionPolicy,
  V1ValidatingAdmissionPolicyBinding,
} from '@kubernetes/client-node'
import type { Account, AccountUsage, StoredUsageStatus } from '../src/kinds/account.ts'
import type { ApiKey } from '../src/kinds/api-key.ts'
import type { RunnerPool } from '../src/kinds/runner-pool.ts'
import type { Screenshot } from '../src/kinds/screenshot.ts'
import type { ScreenshotSchedule } from '../src/kinds/screenshot-schedule.ts'
import type { Webhook } from '../src/kinds/webhook.ts'
import { readStoredStatus, toStoredStatus } from '../src/usage/stored-usage.ts'
import type { KubeObject } from './kube-object.ts'
import { defineResource, type Form, tintypeResource } from './resource.ts'

const usageForm: Form<AccountUsage> = {
  read: ({ status, ...usage }) => ({ ...usage, ...(status ? { status: readStoredStatus(status as StoredUsageStatus) } : {}) }),
  write: ({ status, ...usage }) => ({ ...usage, ...(status ? { status: toStoredStatus(status) } : {}) }),
}

export const screenshots = tintypeResource<Screenshot>('Screenshot', 'screenshots')
export const screenshotSchedules = tintypeResource<ScreenshotSchedule>('ScreenshotSchedule', 'screenshotschedules')
export const webhooks = tintypeResource<Webhook>('Webhook', 'webhooks')
export const accounts = tintypeResource<Account>('Account', 'accounts')
export const accountUsages = tintypeResource<AccountUsage>('AccountUsage', 'accountusages', usageForm)
export const apiKeys = tintypeResource<ApiKey>('ApiKey', 'apikeys')
export const runnerPools = tintypeResource<RunnerPool>('RunnerPool', 'runnerpools')

/** A client-node type as the API server sends it, with strings instead of Dates. Imports only types, so that client-node is not loaded. */
export type AsJson<T> = T extends Date
  ? string
  : T extends (infer Item)[]
    ? AsJson<Item>[]
    : T extends object
      ? { [Field in keyof T]: AsJson<T[Field]> }
      : T

type Kind<T extends object> = AsJson<Omit<T, 'metadata' | 'apiVersion' | 'kind'>> & KubeObject

export type Pod = Kind<V1Pod>
export type Secret = Kind<V1Secret>
export type ConfigMap = Kind<V1ConfigMap>
export type Event = Kind<CoreV1Event>
export type Lease = Kind<V1Lease>
export type TokenReview = Kind<V1TokenReview>
export type TokenRequest = Kind<AuthenticationV1TokenRequest>
export type Service = Kind<V1Service>
export type Namespace = Kind<V1Namespace>
export type Node = Kind<V1Node>
export type ServiceAccount = Kind<V1ServiceAccount>
export type CustomResourceDefinition = Kind<V1CustomResourceDefinition>
export type ValidatingAdmissionPolicy = Kind<V1ValidatingAdmissionPolicy>
export type ValidatingAdmissionPolicyBinding = Kind<V1ValidatingAdmissionPolicyBinding>

const core = <T extends KubeObject>(kind: string, plural: string, namespaced = true) =>
  defineResource<T>({ group: '', version: 'v1', plural, kind, namespaced })
const admission = <T extends KubeObject>(kind: string, plural: string) =>
  defineResource<T>({ group: 'admissionregistration.k8s.io', version: 'v1', plural, kind, namespaced: false })

export const pods = core<Pod>('Pod', 'pods')
export const secrets = core<Secret>('Secret', 'secrets')
export const configMaps = core<ConfigMap>('ConfigMap', 'configmaps')
export const events = core<Event>('Event', 'events')
export const services = core<Service>('Service', 'services')
export const serviceAccounts = core<ServiceAccount>('ServiceAccount', 'serviceaccounts')
export const namespaces = core<Namespace>('Namespace', 'namespaces', false)
export const nodes = core<Node>('Node', 'nodes', false)
export const leases = defineResource<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
})
export const tokenReviews = defineResource<TokenReview>({
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'tokenreviews',
  kind: 'TokenReview',
  namespaced: false,
})
export const customResourceDefinitions = defineResource<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})
export const validatingAdmissionPolicies = admission<ValidatingAdmissionPolicy>('ValidatingAdmissionPolicy', 'validatingadmissionpolicies')
export const validatingAdmissionPolicyBindings = admission<ValidatingAdmissionPolicyBinding>(
  'ValidatingAdmissionPolicyBinding',
  'validatingadmissionpolicybindings',
)
