// Permissions of each identity in the bucket, as S3 policies. docs/architecture.md has the table, and charts/tintype/README.md has it for
// other stores. URLs that leave the programs are signed by separate identities, so that a URL grants no other permissions.

/** The identities. `uploads` signs the URLs that runners write to, `links` those that clients read from. */
export const ROLES = ['uploads', 'links', 'operator', 'gateway'] as const
export type Role = (typeof ROLES)[number]

interface Rights {
  /** Lists keys in the whole bucket. */
  list: boolean
  /** Folders. */
  read: readonly string[]
  write: readonly string[]
  /** Folders into which it may also copy objects. */
  copy: readonly string[]
  remove: readonly string[]
}

const RIGHTS: Readonly<Record<Role, Rights>> = {
  uploads: { list: false, read: [], write: ['users'], copy: [], remove: [] },
  links: { list: false, read: ['users'], write: [], copy: [], remove: [] },
  operator: {
    list: true,
    read: [
      'users',
      'records',
      'events',
      'deliveries',
      'undelivered',
      'options',
      'cache',
      'expiries',
      'gone',
      'schedules',
      'baselines',
      'names',
    ],
    write: [
      'users',
      'records',
      'rewrites',
      'events',
      'deliveries',
      'undelivered',
      'cache',
      'expiries',
      'gone',
      'runs',
      'baselines',
      'names',
    ],
    copy: ['users', 'baselines'],
    remove: [
      'users',
      'records',
      'rewrites',
      'batches',
      'idempotency',
      'deliveries',
      'undelivered',
      'options',
      'cache',
      'expiries',
      'gone',
      'runs',
      'schedules',
      'baselines',
      'names',
    ],
  },
  gateway: {
    list: true,
    read: ['users', 'records', 'batches', 'idempotency', 'events', 'deliveries', 'cache', 'runs'],
    write: ['records', 'rewrites', 'batches', 'idempotency', 'options', 'schedules'],
    copy: [],
    remove: ['users', 'idempotency'],
  },
}

type Condition = Record<string, Record<string, string>>

/** A statement of a policy. */
export interface Statement {
  Effect: 'Allow' | 'Deny'
  Action: string[]
  Resource: string[]
  Condition?: Condition
}

/** A policy document. */
export interface Policy {
  Version: '2012-10-17'
  Statement: Statement[]
}

/** Denies copying: otherwise a holder of a write URL could copy readable objects, with a header that the signature does not cover. */
const IS_COPY: Condition = { Null: { 's3:x-amz-copy-source': 'false' } }

const inFolders = (bucket: string, folders: readonly string[]) => folders.map((folder) => `arn:aws:s3:::${bucket}/${folder}/*`)

/** Returns the policy of a role. */
export function rolePolicy(role: Role, bucket: string): Policy {
  const { list, read, write, copy, remove } = RIGHTS[role]
  const noCopies = write.filter((folder) => !copy.includes(folder))
  const statements: Statement[] = [
    { Effect: 'Allow', Action: ['s3:ListBucket'], Resource: list ? [`arn:aws:s3:::${bucket}`] : [] },
    { Effect: 'Allow', Action: ['s3:GetObject'], Resource: inFolders(bucket, read) },
    { Effect: 'Allow', Action: ['s3:PutObject'], Resource: inFolders(bucket, write) },
    { Effect: 'Deny', Action: ['s3:PutObject'], Resource: inFolders(bucket, noCopies), Condition: IS_COPY },
    { Effect: 'Allow', Action: ['s3:DeleteObject'], Resource: inFolders(bucket, remove) },
  ]
  return { Version: '2012-10-17', Statement: statements.filter(({ Resource }) => Resource.length > 0) }
}

const HOUR_MILLISECONDS = 3_600_000
/** Pods with the old key end within this time, and uploads that were signed with it expire. */
const ROLLOUT_MILLISECONDS = HOUR_MILLISECONDS
/** The longest lifetime of a presigned URL. */
export const RETIRED_MILLISECONDS = 7 * 24 * HOUR_MILLISECONDS

/** A condition that holds until a time, in milliseconds since 1970. */
const until = (at: number): Condition => ({ DateLessThan: { 'aws:CurrentTime': new Date(at).toISOString().replace(/\.\d{3}/, '') } })

/** Policy of an identity that was replaced: all its permissions for an hour, then reading files until its last URLs expire. */
export function retiredPolicy(role: Role, bucket: string, retiredAt: Date): Policy {
  const allowed = rolePolicy(role, bucket).Statement.map((statement) =>
    statement.Effect === 'Deny' ? statement : { ...statement, Condition: until(retiredAt.getTime() + ROLLOUT_MILLISECONDS) },
  )
  const links: Statement = {
    Effect: 'Allow',
    Action: ['s3:GetObject'],
    Resource: inFolders(bucket, ['users']),
    Condition: until(retiredAt.getTime() + RETIRED_MILLISECONDS),
  }
  return { Version: '2012-10-17', Statement: [...allowed, ...(RIGHTS[role].read.includes('users') ? [links] : [])] }
}

/** Name of a role's policy in the store. */
export const policyName = (role: Role): string => `tintype-${role}`

/** Name of the policy of a replaced identity. It contains the time of the replacement. */
export const retiredPolicyName = (role: Role, retiredAt: Date): string =>
  `tintype-retired-${role}-${Math.floor(retiredAt.getTime() / 1_000)}`

const RETIRED_NAME = /^tintype-retired-(uploads|links|operator|gateway)-(\d{10})$/

/** Parses a name of {@link retiredPolicyName}; undefined for other names. */
export function parseRetiredName(name: string): { role: Role; retiredAt: Date } | undefined {
  const [, role, seconds] = RETIRED_NAME.exec(name) ?? []
  return role && seconds ? { role: role as Role, retiredAt: new Date(Number(seconds) * 1_000) } : undefined
}
