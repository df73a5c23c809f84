import { createHash } from 'node:crypto'
import type { Pod } from '@tintype/crds/client/kinds'
import type { NewObject } from '@tintype/crds/client/resource'
import { API_VERSION, DISPATCH_AUDIENCE, Label, RUNNER_PORT } from '@tintype/crds/identifiers/names'
import { poolDefaults, type RunnerPool, type RunnerPoolSpec } from '@tintype/crds/kinds/runner-pool'

// Builds the pods of runners. Pure. They comply with the Pod Security level "restricted"; each token is projected separately with the
// shortest lifetime.

/** Settings of a pod that are not in the spec of its pool. */
export interface PodSettings {
  namespace: string
  release: string
  logLevel: string
  /** OpenShift assigns user and group ids itself. */
  platform: 'kubernetes' | 'openshift'
  /** Public half of the key that signs dispatches, as JWK. */
  dispatchPublicKey: object
  /** Maximum bytes of a file, which determines the disk space for a video. */
  maxFileBytes: number
}

const RUNNER_UID = 10_001
const TOKEN_SECONDS = 600
const KUBERNETES_DIRECTORY = '/var/run/secrets/tintype/kubernetes'
const DISPATCH_DIRECTORY = '/var/run/secrets/tintype/dispatch'
const CHROMIUM = '/usr/lib/chromium/chromium-headless-shell'
/** Part of the grace period that is reserved for the browsers to exit after captures were returned. */
const LAST_SECONDS = 3
const TMP_SIZE = '2Gi'
const VIDEO_DIRECTORY = '/var/lib/tintype/video'
/** The frames of a gif (capture-runner/src/video/encoder.ts), with room for the palette. */
const SPOOL_BYTES = 640 * 1024 ** 2
const HASH_LETTERS = 10
const ORDINAL = /-(\d+)$/

/** Name of the container. It is also needed to read the status of ended pods. */
export const RUNNER_CONTAINER = 'runner'

/** For example `default-7`. Creating the same ordinal twice fails with AlreadyExists. */
export const podName = (pool: string, ordinal: number): string => `${pool}-${ordinal}`

/** The number in a pod's name; -1 when the name has another format. */
export const ordinalOf = ({ metadata }: Pick<Pod, 'metadata'>): number => Number(ORDINAL.exec(metadata.name)?.[1] ?? -1)

/** Label selector of a pool's pods. */
export const podSelector = (pool: string): string => `${Label.pool}=${pool}`

/** Cached hashes by spec object: the same object is hashed at each reconcile of its pool. */
const hashes = new WeakMap<RunnerPoolSpec, { settings: PodSettings; hash: string }>()

/**
 * Changes when the pods must change: idle pods with another hash are replaced. The pool's name is not part of it, because it never changes.
 */
export function templateHash(spec: RunnerPoolSpec, settings: PodSettings): string {
  const known = hashes.get(spec)
  if (known?.settings === settings) return known.hash
  const { labels, annotations } = spec.podTemplate
  const hash = createHash('sha256')
    .update(JSON.stringify([buildSpec(spec, settings, ''), labels ?? {}, annotations ?? {}]))
    .digest('hex')
    .slice(0, HASH_LETTERS)
  hashes.set(spec, { settings, hash })
  return hash
}

/** Builds the pod of one ordinal of a pool. */
export function buildRunnerPod(pool: RunnerPool, ordinal: number, settings: PodSettings): NewObject<Pod> {
  const { name, uid } = pool.metadata
  const { labels, annotations } = pool.spec.podTemplate
  return {
    metadata: {
      name: podName(name, ordinal),
      namespace: settings.namespace,
      ...(annotations === undefined ? {} : { annotations }),
      labels: {
        ...labels,
        'app.kubernetes.io/name': 'tintype',
        'app.kubernetes.io/instance': settings.release,
        'app.kubernetes.io/component': 'capture-runner',
        [Label.pool]: name,
        [Label.templateHash]: templateHash(pool.spec, settings),
      },
      ownerReferences: [{ apiVersion: API_VERSION, kind: 'RunnerPool', name, uid, controller: true }],
    },
    spec: buildSpec(pool.spec, settings, name),
  }
}

function buildSpec(spec: RunnerPoolSpec, settings: PodSettings, pool: string): NonNullable<Pod['spec']> {
  const { podTemplate, sandbox } = spec
  return {
    // A runner that exits is replaced by another pod: each pod has one process, one key and one sandbox report.
    restartPolicy: 'Never',
    serviceAccountName: podTemplate.serviceAccountName,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: graceSecondsOf(spec),
    securityContext: {
      runAsNonRoot: true,
      ...(settings.platform === 'openshift' ? {} : { runAsUser: RUNNER_UID, runAsGroup: RUNNER_UID, fsGroup: RUNNER_UID }),
      seccompProfile:
        sandbox?.localhostProfile === undefined
          ? { type: 'RuntimeDefault' }
          : { type: 'Localhost', localhostProfile: sandbox.localhostProfile },
    },
    ...scheduling(podTemplate),
    topologySpreadConstraints: spreadOf(spec, pool),
    containers: [buildContainer(spec, settings)],
    volumes: [
      { name: 'tmp', emptyDir: { sizeLimit: TMP_SIZE } },
      ...(spec.video === true ? [{ name: 'video', emptyDir: { sizeLimit: videoSizeOf(settings) } }] : []),
      {
        name: 'kubernetes',
        projected: { sources: [token(), { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } }] },
      },
      { name: 'dispatch', projected: { sources: [token(DISPATCH_AUDIENCE)] } },
    ],
  }
}

/** ffmpeg writes one file, and the runner stops it soon after the limit. The kubelet evicts a pod above this size. */
const videoSizeOf = ({ maxFileBytes }: PodSettings): string => `${Math.ceil((SPOOL_BYTES + 2 * maxFileBytes) / 1024 ** 2)}Mi`

const graceSecondsOf = ({ podTemplate }: RunnerPoolSpec): number =>
  podTemplate.terminationGracePeriodSeconds ?? poolDefaults.terminationGracePeriodSeconds

/** Spread the runners, so that a lost node affects as few as possible. */
function spreadOf({ podTemplate }: RunnerPoolSpec, pool: string) {
  const wanted = podTemplate.topologySpreadConstraints ?? [{ topologyKey: 'kubernetes.io/hostname' }]
  return wanted.map(({ maxSkew = 1, topologyKey, whenUnsatisfiable = 'ScheduleAnyway' }) => ({
    maxSkew,
    topologyKey,
    whenUnsatisfiable,
    labelSelector: { matchLabels: { [Label.pool]: pool } },
  }))
}

const token = (audience?: string) => ({
  serviceAccountToken: { path: 'token', expirationSeconds: TOKEN_SECONDS, ...(audience === undefined ? {} : { audience }) },
})

function scheduling({ imagePullSecrets, nodeSelector, tolerations, runtimeClassName, priorityClassName }: RunnerPoolSpec['podTemplate']) {
  // The image is for Linux, and clusters can have Windows nodes.
  const onLinux = { 'kubernetes.io/os': 'linux', ...nodeSelector }
  const wanted = { imagePullSecrets, nodeSelector: onLinux, tolerations, runtimeClassName, priorityClassName }
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined))
}

function buildContainer(spec: RunnerPoolSpec, settings: PodSettings) {
  const { image, imagePullPolicy = 'IfNotPresent', resources } = spec.podTemplate
  const health = { httpGet: { path: '/healthz', port: RUNNER_PORT } }
  return {
    name: RUNNER_CONTAINER,
    image,
    imagePullPolicy,
    // Keeps the end of the log for the pool's condition: an ended pod is deleted, and its log with it.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    env: buildEnvironment(spec, settings),
    ports: [{ name: 'dispatch', containerPort: RUNNER_PORT }],
    resources: {
      requests: { cpu: '100m', memory: '512Mi', ...resources?.requests },
      limits: { memory: '1536Mi', ...resources?.limits },
    },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    readinessProbe: { httpGet: { path: '/readyz', port: RUNNER_PORT }, periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 2 },
    // On a busy node a start takes minutes. Until readinessGraceSeconds, only the startup probe decides.
    startupProbe: { ...health, periodSeconds: 1, timeoutSeconds: 2, failureThreshold: limitsOf(spec).readinessGraceMilliseconds / 1_000 },
    livenessProbe: { ...health, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
    volumeMounts: [
      { name: 'tmp', mountPath: '/tmp' },
      ...(spec.video === true ? [{ name: 'video', mountPath: VIDEO_DIRECTORY }] : []),
      { name: 'kubernetes', mountPath: KUBERNETES_DIRECTORY, readOnly: true },
      { name: 'dispatch', mountPath: DISPATCH_DIRECTORY, readOnly: true },
    ],
  }
}

function buildEnvironment(spec: RunnerPoolSpec, settings: PodSettings) {
  const { egress = {}, sandbox, isolation = poolDefaults.isolation } = spec
  const texts = {
    TINTYPE_RELEASE: settings.release,
    TINTYPE_LOG_LEVEL: settings.logLevel,
    TINTYPE_PORT: String(RUNNER_PORT),
    TINTYPE_DISPATCH_PUBLIC_KEY: JSON.stringify(settings.dispatchPublicKey),
    TINTYPE_EGRESS: JSON.stringify(egress),
    TINTYPE_SANDBOX_MODE: sandbox?.mode ?? 'auto',
    TINTYPE_ISOLATION: isolation,
    TINTYPE_SHUTDOWN_GRACE_MILLISECONDS: String((graceSecondsOf(spec) - LAST_SECONDS) * 1_000),
    TINTYPE_KUBERNETES_TOKEN_FILE: `${KUBERNETES_DIRECTORY}/token`,
    TINTYPE_KUBERNETES_CA_FILE: `${KUBERNETES_DIRECTORY}/ca.crt`,
    TINTYPE_DISPATCH_TOKEN_FILE: `${DISPATCH_DIRECTORY}/token`,
    TINTYPE_CHROMIUM: CHROMIUM,
    ...(spec.video === true ? { TINTYPE_VIDEO: 'true', TINTYPE_VIDEO_DIRECTORY: VIDEO_DIRECTORY } : {}),
  }
  const field = (fieldPath: string) => ({ fieldRef: { fieldPath } })
  return [
    ...Object.entries(texts).map(([name, value]) => ({ name, value })),
    { name: 'TINTYPE_NAMESPACE', valueFrom: field('metadata.namespace') },
    { name: 'TINTYPE_POD_NAME', valueFrom: field('metadata.name') },
    { name: 'TINTYPE_POD_UID', valueFrom: field('metadata.uid') },
    { name: 'TINTYPE_MEMORY_LIMIT_BYTES', valueFrom: { resourceFieldRef: { containerName: RUNNER_CONTAINER, resource: 'limits.memory' } } },
  ]
}

/** The limits in a pool's spec, with defaults filled in. */
export function limitsOf(spec: Partial<RunnerPoolSpec> | undefined) {
  return {
    minIdle: spec?.minIdle ?? poolDefaults.minIdle,
    maxPods: spec?.maxPods ?? poolDefaults.maxPods,
    capturesPerPod: spec?.capturesPerPod ?? poolDefaults.capturesPerPod,
    scaleDownDelayMilliseconds: (spec?.scaleDownDelaySeconds ?? poolDefaults.scaleDownDelaySeconds) * 1_000,
    readinessGraceMilliseconds: (spec?.readinessGraceSeconds ?? poolDefaults.readinessGraceSeconds) * 1_000,
    targetDrainMilliseconds: (spec?.targetDrainSeconds ?? poolDefaults.targetDrainSeconds) * 1_000,
  }
}
