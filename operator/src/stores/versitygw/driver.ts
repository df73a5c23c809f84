import { opendir, rmdir, stat, unlink } from 'node:fs/promises'
import path from 'node:path'
import { IDENTITIES, policyOf, type Statement } from '@tintype/crds/records/folders'
import { lazyBucketClient } from '@tintype/crds/storage/s3/bucket-client'
import type { Client } from 'minio'
import { RetryableError, TerminalError } from '../../controller-runtime/controller.ts'
import {
  callAdmin,
  type ExpiryDays,
  type ExpiryResult,
  type Identities,
  type StoreDriver,
  type StoreRoot,
  type StoreUser,
  type Target,
} from '../driver.ts'

/** versitygw: the policy of the bucket names the users. There are no lifecycle rules, so old files are deleted from its volume. */
export const driver: StoreDriver = { setIdentities, removeUser, expireFiles }

// Users of the bundled versitygw, and their permissions. It has no policies of users, so the policy of the bucket names them.
//
// A replaced key ends at once. MinIO keeps it for an hour, but here the policy has no room for more keys.

const TIMEOUT_MILLISECONDS = 10_000

/** A statement of the bucket's policy. */
export interface BucketStatement extends Statement {
  Sid?: string
  Principal: { AWS: string[] }
}

/** The policy of a bucket. */
interface BucketPolicy {
  Version: '2012-10-17'
  Statement: BucketStatement[]
}

/** Id of all statements of ours. */
const OURS = 'tintype'

/** versitygw keeps the policy in an attribute of the bucket's directory. ext4 has 4 KiB for all attributes of a file. */
const MAX_POLICY_BYTES = 3_800

/**
 * Returns the policy of the bucket with the permissions of these identities only. Statements of others stay. `replaced` are keys of an earlier policy.
 * @throws TerminalError when the policy is too large for the store
 */
export function withIdentities(
  found: readonly BucketStatement[],
  identities: Identities,
  bucket: string,
): { policy: BucketPolicy; replaced: string[] } {
  const current = new Set(Object.values(identities).map(({ accessKey }) => accessKey))
  const [own, others] = [found.filter(({ Sid }) => Sid === OURS), found.filter(({ Sid }) => Sid !== OURS)]
  const replaced = [...new Set(own.flatMap(({ Principal }) => Principal.AWS))].filter((key) => !current.has(key))
  const statements = IDENTITIES.flatMap((role) =>
    groupByActions(policyOf(role, bucket).Statement.filter(isSupported)).map((statement) => ({
      Sid: OURS,
      Principal: { AWS: [identities[role].accessKey] },
      ...statement,
    })),
  )
  const policy: BucketPolicy = { Version: '2012-10-17', Statement: [...others, ...statements] }
  const bytes = Buffer.byteLength(JSON.stringify(policy))
  if (bytes <= MAX_POLICY_BYTES) return { policy, replaced }
  throw new TerminalError(
    'StorageRefused',
    `the policy of the bucket ${bucket} has ${bytes} bytes, and versitygw takes ${MAX_POLICY_BYTES}: shorten storage.bucket or the access keys`,
  )
}

/**
 * versitygw rejects the condition that denies copies. Copying needs the right to read the source, and the identities that sign URLs may only write, or
 * only read.
 */
const isSupported = ({ Effect }: Statement): boolean => Effect === 'Allow'

/** The same permissions with each resource once, which is shorter. */
function groupByActions(statements: readonly Statement[]): Statement[] {
  const actions = new Map<string, string[]>()
  for (const { Action, Resource } of statements) for (const each of Resource) actions.set(each, [...(actions.get(each) ?? []), ...Action])
  const groups = Map.groupBy(actions.keys(), (resource) => actions.get(resource)!.join())
  return [...groups].map(([names, resources]) => ({ Effect: 'Allow', Action: names.split(','), Resource: resources }))
}

/**
 * Creates the users, and deletes replaced ones. Idempotent.
 * @throws RetryableError, TerminalError
 */
export async function setIdentities(identities: Identities, { root, bucket }: Pick<Target, 'root' | 'bucket'>): Promise<void> {
  for (const role of IDENTITIES) await putUser(root, identities[role])
  const client = await lazyBucketClient(root, TIMEOUT_MILLISECONDS)()
  const { policy, replaced } = withIdentities(await readStatements(client, bucket), identities, bucket)
  await writePolicy(client, bucket, policy)
  for (const accessKey of replaced) await deleteUser(root, accessKey)
}

/** Deletes a user and its permissions immediately. Succeeds if it does not exist. */
export async function removeUser(accessKey: string, { root, bucket }: Pick<Target, 'root' | 'bucket'>): Promise<void> {
  const client = await lazyBucketClient(root, TIMEOUT_MILLISECONDS)()
  const found = await readStatements(client, bucket)
  const kept = found.filter(({ Principal }) => !Principal.AWS.includes(accessKey))
  if (kept.length < found.length) await writePolicy(client, bucket, { Version: '2012-10-17', Statement: kept })
  await deleteUser(root, accessKey)
}

async function readStatements(client: Client, bucket: string): Promise<BucketStatement[]> {
  try {
    return (JSON.parse(await client.getBucketPolicy(bucket)) as BucketPolicy).Statement
  } catch (cause) {
    if ((cause as { code?: string }).code === 'NoSuchBucketPolicy') return []
    throw new RetryableError('read the policy of the bucket', { cause })
  }
}

async function writePolicy(client: Client, bucket: string, policy: BucketPolicy): Promise<void> {
  try {
    await client.setBucketPolicy(bucket, JSON.stringify(policy))
  } catch (cause) {
    throw new RetryableError('set the policy of the bucket', { cause })
  }
}

const escapeXml = (text: string): string => text.replace(/[<>&'"]/g, (character) => `&#${character.charCodeAt(0)};`)

/** Creates a user or changes its secret. */
async function putUser(root: StoreRoot, { accessKey, secretKey }: StoreUser): Promise<void> {
  const [access, secret] = [escapeXml(accessKey), escapeXml(secretKey)]
  const account = `<Account><Access>${access}</Access><Secret>${secret}</Secret><Role>user</Role></Account>`
  const status = await call(root, 'create-user', {}, account, [409])
  if (status === 409) await call(root, 'update-user', { access: accessKey }, `<MutableProps><Secret>${secret}</Secret></MutableProps>`, [])
}

async function deleteUser(root: StoreRoot, access: string): Promise<void> {
  await call(root, 'delete-user', { access }, '', [404])
}

/** Sends a call of versitygw's admin API. Returns its status. @throws RetryableError, TerminalError */
async function call(
  root: StoreRoot,
  operation: string,
  parameters: Record<string, string>,
  body: string,
  expected: readonly number[],
): Promise<number> {
  return (await callAdmin(root, { store: 'versitygw', method: 'PATCH', operation, parameters, body, expected })).status
}

// Deletes expired objects of the bundled versitygw, which has no lifecycle rules. It keeps each object as one file, with its metadata in attributes
// of that file. So this runs beside the store and deletes old files from its volume.

const DAY_MILLISECONDS = 86_400_000
/** Folder of versitygw for unfinished uploads. */
const UNFINISHED = { '.sgwtmp': 1 } as const

/**
 * Deletes the files of a bucket's folders that are older than the days of their folder, and directories that were empty for a day.
 * @param days by folder, as `expiryDays` returns them
 */
export async function expireFiles(bucket: string, days: ExpiryDays, now: Date): Promise<ExpiryResult> {
  const result = { files: 0, directories: 0 }
  for (const [folder, count] of Object.entries({ ...days, ...UNFINISHED })) {
    const limits = { files: now.getTime() - count * DAY_MILLISECONDS, directories: now.getTime() - DAY_MILLISECONDS }
    await expireFolder(path.join(bucket, folder), limits, result)
  }
  return result
}

async function expireFolder(directory: string, limits: ExpiryResult, result: ExpiryResult): Promise<void> {
  const entries = await unlessAbsent(() => opendir(directory))
  if (!entries) return
  for await (const entry of entries) {
    const file = path.join(directory, entry.name)
    // Before the files in it, because each deletion makes the directory younger.
    const found = await unlessAbsent(() => stat(file))
    if (!found) continue
    if (entry.isDirectory()) {
      await expireFolder(file, limits, result)
      if (found.mtimeMs < limits.directories && (await unlessAbsent(() => rmdir(file).then(() => true)))) result.directories += 1
    } else if (found.mtimeMs < limits.files && (await unlessAbsent(() => unlink(file).then(() => true)))) {
      result.files += 1
    }
  }
}

/** Undefined if the store or a client was faster, or if a directory has entries. */
async function unlessAbsent<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
