import { z } from 'zod'
import { Conditions } from '../schema/conditions.ts'
import { type Definition, Metadata } from '../schema/custom-resource.ts'

const count = (what: string, minimum = 0, maximum = 3000) => z.int().min(minimum).max(maximum).describe(what)
const texts = (what: string, value: z.ZodString) => z.record(z.string().max(317), value).meta({ maxProperties: 32 }).describe(what)
const quantities = (what: string) => z.record(z.string().max(64), z.string().max(32)).meta({ maxProperties: 16 }).describe(what)

/** What the browser may reach; addresses are checked by address-rules.ts. */
export const EgressSpec = z.object({
  allowedHosts: z
    .array(z.string().max(253))
    .max(256)
    .describe('Host names, or *.suffix, that may resolve to private addresses.')
    .optional(),
  allowedCidrs: z.array(z.string().max(64)).max(256).describe('Private address ranges that may be reached.').optional(),
  deniedCidrs: z
    .array(z.string().max(64))
    .max(256)
    .describe('Address ranges refused besides the private ones, such as the cluster’s own.')
    .optional(),
  allowedPorts: z.array(z.int().min(1).max(65535)).max(64).describe('Ports below 1024 that may be reached besides 80 and 443.').optional(),
  upstreamProxy: z.string().max(2048).describe('http proxy through which the cluster reaches the internet.').optional(),
  extraCaBundle: z.string().max(262144).describe('PEM certificates that the browser trusts besides the system’s.').optional(),
})
export type EgressSpec = z.infer<typeof EgressSpec>

export const RunnerPoolSpec = z.object({
  minIdle: count('Warm pods kept idle. Default: 1.').optional(),
  maxPods: count('Most pods the pool may have. Default: 10.', 1).optional(),
  capturesPerPod: count('Captures after which a pod is replaced; 1 is a fresh pod for each. Default: 1000.', 1, 100000).optional(),
  isolation: z
    .enum(['context', 'browser'])
    .describe('context: a fresh browser context for each capture; browser: a fresh browser process. Default: context.')
    .optional(),
  scaleDownDelaySeconds: count('Seconds that a spare pod stays. Default: 120.', 0, 86400).optional(),
  targetDrainSeconds: count('Seconds in which the queue should be empty; sets how many pods are added. Default: 10.', 1, 3600).optional(),
  readinessGraceSeconds: count(
    'Seconds that a new pod may take until it can capture; then it is replaced. Default: 300.',
    10,
    3600,
  ).optional(),
  sandbox: z
    .object({
      mode: z
        .enum(['auto', 'required', 'off'])
        .describe(
          'auto: Chromium’s sandbox where the node allows it, told in the condition Sandboxed; required: no captures without it; off.',
        ),
      localhostProfile: z
        .string()
        .max(256)
        .describe('Seccomp profile on the node that allows user namespaces; absent: RuntimeDefault.')
        .optional(),
    })
    .describe('The browser’s own sandbox.')
    .optional(),
  podTemplate: z
    .object({
      image: z.string().min(1).max(512).describe('Image of the capture-runner.'),
      imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).describe('When the image is pulled. Default: IfNotPresent.').optional(),
      imagePullSecrets: z
        .array(z.object({ name: z.string().max(253).describe('Name of the Secret.') }))
        .max(8)
        .describe('Secrets to pull with.')
        .optional(),
      serviceAccountName: z
        .string()
        .min(1)
        .max(253)
        .describe('ServiceAccount of the pods; it may patch the status of its own claim and nothing else.'),
      resources: z
        .object({ requests: quantities('Requested.').optional(), limits: quantities('Bounded.').optional() })
        .describe('Resources of the one container. Default: requests of 100m CPU and 512Mi, limit 1536Mi.')
        .optional(),
      nodeSelector: quantities('Labels of the nodes to run on.').optional(),
      tolerations: z
        .array(
          z.object({
            key: z.string().max(253).describe('Taint key.').optional(),
            operator: z.enum(['Exists', 'Equal']).describe('How to compare.').optional(),
            value: z.string().max(253).describe('Taint value.').optional(),
            effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).describe('Taint effect.').optional(),
          }),
        )
        .max(16)
        .describe('Taints to tolerate.')
        .optional(),
      runtimeClassName: z.string().max(253).describe('RuntimeClass, such as gvisor.').optional(),
      priorityClassName: z.string().max(253).describe('PriorityClass.').optional(),
      topologySpreadConstraints: z
        .array(
          z.object({
            maxSkew: z.int().min(1).max(1000).describe('By how many pods the fullest may be ahead of the emptiest. Default: 1.').optional(),
            topologyKey: z.string().min(1).max(317).describe('Node label, such as topology.kubernetes.io/zone.'),
            whenUnsatisfiable: z
              .enum(['ScheduleAnyway', 'DoNotSchedule'])
              .describe('What to do when it cannot be kept to. Default: ScheduleAnyway.')
              .optional(),
          }),
        )
        .max(8)
        .describe('How the pool’s pods spread over the nodes. Default: over host names, as well as can be.')
        .optional(),
      terminationGracePeriodSeconds: z
        .int()
        .min(5)
        .max(3600)
        .describe('Seconds that a pod which is drained or deleted has to finish its capture; then it gives it back. Default: 30.')
        .optional(),
      labels: texts('Labels of the pods besides those of the operator, which win.', z.string().max(63)).optional(),
      annotations: texts('Annotations of the pods.', z.string().max(4096)).optional(),
    })
    .describe('The pods.'),
  egress: EgressSpec.describe('What the browser may reach. Default: public addresses only.').optional(),
})
export type RunnerPoolSpec = z.infer<typeof RunnerPoolSpec>

export const RunnerPoolStatus = z.object({
  observedGeneration: z.int().min(0).describe('Generation that was looked at.').optional(),
  replicas: z.int().min(0).describe('Pods that exist.').optional(),
  wanted: z.int().min(0).describe('Pods that there should be.').optional(),
  updated: z.int().min(0).describe('Pods made from the current template.').optional(),
  idle: z.int().min(0).describe('Warm pods that wait.').optional(),
  busy: z.int().min(0).describe('Pods that capture.').optional(),
  queued: z.int().min(0).describe('Screenshots that wait for a pod.').optional(),
  selector: z.string().max(253).describe('Label selector of the pods.').optional(),
  conditions: Conditions.describe('Ready, Scaled, Sandboxed and Guarded.').optional(),
})
export type RunnerPoolStatus = z.infer<typeof RunnerPoolStatus>

export const RunnerPool = z.object({ metadata: Metadata, spec: RunnerPoolSpec, status: RunnerPoolStatus.optional() })
export type RunnerPool = z.infer<typeof RunnerPool>

/** Defaults of a pool, applied by the operator. */
export const poolDefaults = {
  minIdle: 1,
  maxPods: 10,
  capturesPerPod: 1000,
  isolation: 'context',
  scaleDownDelaySeconds: 120,
  targetDrainSeconds: 10,
  readinessGraceSeconds: 300,
  terminationGracePeriodSeconds: 30,
} as const

export const runnerPoolDefinition: Definition = {
  kind: 'RunnerPool',
  plural: 'runnerpools',
  singular: 'runnerpool',
  shortNames: ['pool'],
  description: 'A RunnerPool keeps warm capture-runner pods; `kubectl scale` sets how many wait idle.',
  columns: [
    { name: 'Min idle', type: 'integer', jsonPath: '.spec.minIdle' },
    { name: 'Idle', type: 'integer', jsonPath: '.status.idle' },
    { name: 'Busy', type: 'integer', jsonPath: '.status.busy' },
    { name: 'Queued', type: 'integer', jsonPath: '.status.queued' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Sandboxed', type: 'string', jsonPath: '.status.conditions[?(@.type=="Sandboxed")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason', priority: 1 },
    { name: 'Scaled', type: 'string', jsonPath: '.status.conditions[?(@.type=="Scaled")].reason', priority: 1 },
    { name: 'Pods', type: 'integer', jsonPath: '.status.replicas', priority: 1 },
    { name: 'Updated', type: 'integer', jsonPath: '.status.updated', priority: 1 },
    { name: 'Max', type: 'integer', jsonPath: '.spec.maxPods', priority: 1 },
    { name: 'Image', type: 'string', jsonPath: '.spec.podTemplate.image', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: RunnerPoolSpec.describe('How many runner pods there are, and how they run.'),
  status: RunnerPoolStatus.describe('The pods of the pool and whether they can capture. Written by the operator.'),
  // The name is a label's value of the pods, and with a number behind it their host name.
  rules: [
    { rule: 'self.metadata.name.size() <= 54', message: 'the name of a RunnerPool has at most 54 letters' },
    {
      rule: `(has(self.spec.minIdle) ? self.spec.minIdle : ${poolDefaults.minIdle}) <= (has(self.spec.maxPods) ? self.spec.maxPods : ${poolDefaults.maxPods})`,
      message: 'spec.minIdle is above spec.maxPods: raise spec.maxPods, or lower spec.minIdle',
    },
  ],
  scale: { specReplicasPath: '.spec.minIdle', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.selector' },
}
