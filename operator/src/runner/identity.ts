import type { TokenReview } from '@tintype/crds/client/kinds'
import type { Resource } from '@tintype/crds/client/resource'
import type { Identity, SandboxReport, VideoReport } from '@tintype/crds/dispatch/dispatch'
import { DISPATCH_AUDIENCE } from '@tintype/crds/identifiers/names'
import { RetryableError } from '../controller-runtime/controller.ts'
import { type EncryptionKey, type RunnerAddress, type RunnerClient, toEncryptionKey } from './runner-client.ts'

/** Identity of a runner after its token has proved which pod it is. */
export interface RunnerIdentity {
  key: EncryptionKey
  sandbox: SandboxReport
  version: string
  /** As counted by the runner. */
  captures: number
  accountName: string | undefined
  /** Build time of its filter lists, ISO 8601. */
  listsUpdated?: string | undefined
  /** Absent if the pod was not started to record videos. */
  video?: VideoReport | undefined
}

/** The pod that an identity must belong to. */
export interface ExpectedPod extends RunnerAddress {
  namespace: string
  serviceAccountName: string
}

const POD_UID = 'authentication.kubernetes.io/pod-uid'

/** Returns why a token review does not prove this pod; undefined when it does. */
export function findMismatch(status: TokenReview['status'], { uid, namespace, serviceAccountName }: ExpectedPod): string | undefined {
  if (!status?.authenticated) return 'the API server rejected its token'
  if (!status.audiences?.includes(DISPATCH_AUDIENCE)) return 'its token has another audience'
  if (status.user?.username !== `system:serviceaccount:${namespace}:${serviceAccountName}`)
    return 'its token belongs to another ServiceAccount'
  if (status.user.extra?.[POD_UID]?.[0] !== uid) return 'its token is bound to another pod'
  return undefined
}

/**
 * Requests the identity of a runner and has the API server review its token.
 * @throws RetryableError when the runner does not respond or its token does not prove the pod
 */
export async function identify(
  runners: RunnerClient,
  reviews: Pick<Resource<TokenReview>, 'create'>,
  pod: ExpectedPod,
): Promise<RunnerIdentity> {
  const claimed = await claimedIdentity(runners, pod)
  const { status } = await reviews.create({ spec: { token: claimed.token, audiences: [DISPATCH_AUDIENCE] } }, { repeat: 'always' })
  const mismatch = findMismatch(status, pod)
  if (mismatch !== undefined) throw new RetryableError(`the identity of the runner is not confirmed: ${mismatch}`)
  const { sandbox, version, captures = 0, accountName, listsUpdated, video } = claimed
  return { key: toEncryptionKey(claimed), sandbox, version, captures, accountName, listsUpdated, video }
}

async function claimedIdentity(runners: RunnerClient, pod: ExpectedPod): Promise<Identity> {
  try {
    return await runners.identity(pod)
  } catch (cause) {
    throw new RetryableError('request the identity of a runner', { cause })
  }
}
