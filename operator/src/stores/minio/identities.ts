import { IDENTITIES, policyOf } from '@tintype/crds/records/folders'
import type { Identities, Target } from '../driver.ts'
import { attachPolicy, listUsers, putPolicy, putUser, removePolicy, removeUser } from './admin.ts'
import { parseRetiredName, policyName, RETIRED_MILLISECONDS, retiredPolicy, retiredPolicyName } from './policies.ts'

// Users of the bundled MinIO. The users of Tintype are identified by their policies, so that a key that was replaced manually, by a new
// Secret or by an upgrade is found and retired.

/**
 * Creates the users, retires replaced ones and deletes those whose retirement period is over. Idempotent.
 * @throws RetryableError, TerminalError
 */
export async function setIdentities(identities: Identities, { root, bucket, now }: Target): Promise<void> {
  // Retire first, so that no program loses permissions in between: a retired user keeps its own for an hour.
  await retireOthers(identities, { root, bucket, now })
  for (const role of IDENTITIES) {
    await putPolicy(root, policyName(role), policyOf(role, bucket))
    await putUser(root, identities[role])
    await attachPolicy(root, policyName(role), identities[role].accessKey)
  }
}

async function retireOthers(identities: Identities, { root, bucket, now }: Target): Promise<void> {
  const current = new Set(Object.values(identities).map(({ accessKey }) => accessKey))
  // Users that were retired in the same second share a policy. MinIO does not delete a policy that is attached to a user.
  const expired = new Set<string>()
  for (const { accessKey, policyName: attached } of await listUsers(root)) {
    if (current.has(accessKey)) continue
    const role = IDENTITIES.find((role) => policyName(role) === attached)
    if (role) {
      const name = retiredPolicyName(role, now)
      await putPolicy(root, name, retiredPolicy(role, bucket, now))
      await attachPolicy(root, name, accessKey)
      continue
    }
    const retired = parseRetiredName(attached)
    if (!retired || now.getTime() - retired.retiredAt.getTime() < RETIRED_MILLISECONDS) continue
    await removeUser(root, accessKey)
    expired.add(attached)
  }
  for (const policy of expired) await removePolicy(root, policy)
}
