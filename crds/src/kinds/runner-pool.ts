import { z } from 'zod'
import { DEFAULT_POOL, DEFAULT_VIDEO_POOL } from '../identifiers/names.ts'
import type { CaptureOptions } from '../options/catalog.ts'
import { isMoving } from '../options/output/formats.ts'
import { Conditions } from '../schema/conditions.ts'
import { type Definition, Metadata } from '../schema/custom-resource.ts'

const count = (what: string, minimum = 0, maximum = 3000) => z.int().min(minimum).max(maximum).describe(what)
const texts = (what: string, value: z.ZodString) => z.record(z.string().max(317), value).meta({ maxProperties: 32 }).describe(what)
const quantities = (what: string) => z.record(z.string().max(64), z.string().max(32)).meta({ maxProperties: 16 }).describe(what)

/** Egress rules of the browser. address-rules.ts applies them. */
export const EgressSpec = z.object({
  allowedHosts: z
    .array(z.string().max(253))
    .max(256)
    .describe('Host names, or *.suffix, that may resolve to private IP addresses.')
    .optional(),
  allowedCidrs: z.array(z.string().max(64)).max(256).describe('Private address ranges that the browser may reach, as CIDRs.').optional(),
  deniedCidrs: z
    .array(z.string().max(64))
    .max(256)
    .describe('Address ranges to refuse in addition to private ones, as CIDRs, such as the cluster’s own.')
    .optional(),
  allowedPorts: z
    .array(z.int().min(1).max(65535))
    .max(64)
    .describe('Ports below 1024 that the browser may reach in addition to 80 and 443.')
    .optional(),
  upstreamProxy: z.string().max(2048).describe('URL of the http proxy through which the cluster reaches the internet.').optional(),
  extraCaBundle: z.string().max(262144).describe('PEM certificates that the browser trusts in addition to the system’s.').optional(),
})
export type EgressSpec = z.infer<typeof EgressSpec>

export const RunnerPoolSpec = z.object({
  minIdle: count('Number of warm pods to keep idle. Default: 1.').optional(),
  maxPods: count('Maximum number of pods. Default: 10.', 1).optional(),
  capturesPerPod: count(
    'Number of captures after which a pod is replaced; 1 uses a new pod for each capture. Default: 1000.',
    1,
    100000,
  ).optional(),
  isolation: z
    .enum(['context', 'browser'])
    .describe(
      'Isolation of captures: context uses a new browser context for each capture, browser a new browser process. Default: context.',
    )
    .optional(),
  scaleDownDelaySeconds: count('Seconds before a surplus pod is removed. Default: 120.', 0, 86400).optional(),
  targetDrainSeconds: count(
    'Target time to empty the queue in seconds, which determines how many pods are added. Default: 10.',
    1,
    3600,
  ).optional(),
  readinessGraceSeconds: count('Seconds until a new pod that is not ready is replaced. Default: 300.', 10, 3600).optional(),
  sandbox: z
    .object({
      mode: z
        .enum(['auto', 'required', 'off'])
        .describe(
          'Mode of Chromium’s sandbox: auto uses it if the node allows it, required captures only with it, off disables it. The condition Sandboxed reports the result.',
        ),
      localhostProfile: z
        .string()
        .max(256)
        .describe('Seccomp profile on the node that allows user namespaces. If absent, RuntimeDefault is used.')
        .optional(),
    })
    .describe('Sandbox of the browser.')
    .optional(),
  video: z
    .boolean()
    .describe(
      'Pods of this pool record videos. They need an image with ffmpeg. The condition VideoReady reports the result. Default: false.',
    )
    .optional(),
  podTemplate: z
    .object({
      image: z.string().min(1).max(512).describe('Image of the capture-runner.'),
      imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).describe('When to pull the image. Default: IfNotPresent.').optional(),
      imagePullSecrets: z
        .array(z.object({ name: z.string().max(253).describe('Name of the Secret.') }))
        .max(8)
        .describe('Secrets to pull the image with.')
        .optional(),
      serviceAccountName: z
        .string()
        .min(1)
        .max(253)
        .describe('ServiceAccount of the pods: the capture-runner of the release. The admission policies refuse the reports of others.'),
      resources: z
        .object({ requests: quantities('Resource requests.').optional(), limits: quantities('Resource limits.').optional() })
        .describe('Resources of the container. Default: requests of 100m CPU and 512Mi, limit 1536Mi.')
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
            maxSkew: z
              .int()
              .min(1)
              .max(1000)
              .describe('Maximum difference in the number of pods between two domains. Default: 1.')
              .optional(),
            topologyKey: z.string().min(1).max(317).describe('Node label, such as topology.kubernetes.io/zone.'),
            whenUnsatisfiable: z
              .enum(['ScheduleAnyway', 'DoNotSchedule'])
              .describe('Action if the constraint cannot be met. Default: ScheduleAnyway.')
              .optional(),
          }),
        )
        .max(8)
        .describe('How to spread the pods over the nodes. Default: over host names, ScheduleAnyway.')
        .optional(),
      terminationGracePeriodSeconds: z
        .int()
        .min(5)
        .max(3600)
        .describe('Seconds that a deleted pod has to finish its capture. After that, the capture returns to the queue. Default: 30.')
        .optional(),
      labels: texts('Additional labels of the pods. The operator’s own labels take precedence.', z.string().max(63)).optional(),
      annotations: texts('Annotations of the pods.', z.string().max(4096)).optional(),
    })
    .describe('Template of the pods.'),
  egress: EgressSpec.describe('Egress rules of the browser. Default: public addresses only.').optional(),
})
export type RunnerPoolSpec = z.infer<typeof RunnerPoolSpec>

export const RunnerPoolStatus = z.object({
  observedGeneration: z.int().min(0).describe('Generation of the spec that the operator last observed.').optional(),
  replicas: z.int().min(0).describe('Number of existing pods.').optional(),
  wanted: z.int().min(0).describe('Desired number of pods.').optional(),
  updated: z.int().min(0).describe('Number of pods with the current template.').optional(),
  idle: z.int().min(0).describe('Number of warm pods without a capture.').optional(),
  busy: z.int().min(0).describe('Number of pods with a capture.').optional(),
  queued: z.int().min(0).describe('Number of Screenshots that wait for a pod.').optional(),
  heldBack: z.int().min(0).describe('Number of these that wait because their account runs as many captures as it may.').optional(),
  selector: z.string().max(253).describe('Label selector of the pods.').optional(),
  conditions: Conditions.describe(
    'Conditions Ready, Scaled, Sandboxed and Guarded, and VideoReady of a pool that records videos.',
  ).optional(),
})
export type RunnerPoolStatus = z.infer<typeof RunnerPoolStatus>

export const RunnerPool = z.object({ metadata: Metadata, spec: RunnerPoolSpec, status: RunnerPoolStatus.optional() })
export type RunnerPool = z.infer<typeof RunnerPool>

/** Defaults of a pool. The operator applies them. */
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
  description: 'A RunnerPool keeps warm capture-runner pods. `kubectl scale` sets the number of idle pods.',
  // The host name of a pod is the name with a number of up to eight digits, and has at most 63 characters. `poolName` has no dots.
  names: { maxLength: 54, isLabel: true },
  columns: [
    { name: 'Min idle', type: 'integer', jsonPath: '.spec.minIdle' },
    { name: 'Idle', type: 'integer', jsonPath: '.status.idle' },
    { name: 'Busy', type: 'integer', jsonPath: '.status.busy' },
    { name: 'Queued', type: 'integer', jsonPath: '.status.queued' },
    { name: 'Held back', type: 'integer', jsonPath: '.status.heldBack', description: 'Queued, and the account is at its limit.' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Sandboxed', type: 'string', jsonPath: '.status.conditions[?(@.type=="Sandboxed")].status' },
    { name: 'Video', type: 'boolean', jsonPath: '.spec.video', priority: 1 },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason', priority: 1 },
    { name: 'Scaled', type: 'string', jsonPath: '.status.conditions[?(@.type=="Scaled")].reason', priority: 1 },
    { name: 'Pods', type: 'integer', jsonPath: '.status.replicas', priority: 1 },
    { name: 'Updated', type: 'integer', jsonPath: '.status.updated', priority: 1 },
    { name: 'Max', type: 'integer', jsonPath: '.spec.maxPods', priority: 1 },
    { name: 'Image', type: 'string', jsonPath: '.spec.podTemplate.image', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: RunnerPoolSpec.describe('Number and configuration of the runner pods.'),
  status: RunnerPoolStatus.describe('State of the runner pods. Written by the operator.'),
  rules: [
    {
      rule: `(has(self.spec.minIdle) ? self.spec.minIdle : ${poolDefaults.minIdle}) <= (has(self.spec.maxPods) ? self.spec.maxPods : ${poolDefaults.maxPods})`,
      message: 'spec.minIdle is above spec.maxPods: raise spec.maxPods, or lower spec.minIdle',
    },
  ],
  scale: { specReplicasPath: '.spec.minIdle', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.selector' },
}

/**
 * The RunnerPool that captures a Screenshot: the one that its spec names, else the pool of videos for a video, else that of the account's plan,
 * else the default one.
 * @param planPool pool of the account's plan; only the operator knows it
 */
export function poolOf(
  spec: { poolName?: string | undefined; options?: CaptureOptions | undefined },
  planPool: string = DEFAULT_POOL,
): string {
  return spec.poolName ?? (isMoving(spec.options?.format) ? DEFAULT_VIDEO_POOL : planPool)
}
