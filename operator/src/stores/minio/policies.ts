import {
  type Condition,
  FOLDERS,
  type Folder,
  IDENTITIES,
  type Identity,
  inFolders,
  type Policy,
  policyOf,
  type Statement,
} from '@tintype/crds/records/folders'

// Names of the identities' policies in the bundled MinIO, and the policies of replaced identities.

const HOUR_MILLISECONDS = 3_600_000
/** Pods with the old key end within this time, and uploads that were signed with it expire. */
const ROLLOUT_MILLISECONDS = HOUR_MILLISECONDS
/** The longest lifetime of a presigned URL. */
export const RETIRED_MILLISECONDS = 7 * 24 * HOUR_MILLISECONDS

/** A condition that holds until a time, in milliseconds since 1970. */
const until = (at: number): Condition => ({ DateLessThan: { 'aws:CurrentTime': new Date(at).toISOString().replace(/\.\d{3}/, '') } })

/** Policy of an identity that was replaced: all its permissions for an hour, then reading files until its last URLs expire. */
export function retiredPolicy(role: Identity, bucket: string, retiredAt: Date): Policy {
  const allowed = policyOf(role, bucket).Statement.map((statement) =>
    statement.Effect === 'Deny' ? statement : { ...statement, Condition: until(retiredAt.getTime() + ROLLOUT_MILLISECONDS) },
  )
  const rights: Folder['rights'] = FOLDERS.users.rights
  const links: Statement = {
    Effect: 'Allow',
    Action: ['s3:GetObject'],
    Resource: inFolders(bucket, ['users']),
    Condition: until(retiredAt.getTime() + RETIRED_MILLISECONDS),
  }
  return { Version: '2012-10-17', Statement: [...allowed, ...(rights[role]?.includes('get') ? [links] : [])] }
}

/** Name of a role's policy in the store. */
export const policyName = (role: Identity): string => `tintype-${role}`

/** Name of the policy of a replaced identity. It contains the time of the replacement. */
export const retiredPolicyName = (role: Identity, retiredAt: Date): string =>
  `tintype-retired-${role}-${Math.floor(retiredAt.getTime() / 1_000)}`

const RETIRED_NAME = new RegExp(`^tintype-retired-(${IDENTITIES.join('|')})-(\\d{10})$`)

/** Parses a name of {@link retiredPolicyName}; undefined for other names. */
export function parseRetiredName(name: string): { role: Identity; retiredAt: Date } | undefined {
  const [, role, seconds] = RETIRED_NAME.exec(name) ?? []
  return role && seconds ? { role: role as Identity, retiredAt: new Date(Number(seconds) * 1_000) } : undefined
}
