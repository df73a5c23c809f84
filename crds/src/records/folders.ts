import { MAX_MARKER_BYTES } from '../crypto/signatures.ts'
import { MAX_SEALED_BYTES } from '../options/private.ts'
import * as keys from './storage-keys.ts'

// All that Tintype stores in the bucket, by folder: the first part of a key. The policies of the stores, their lifecycle rules, the deletion of accounts,
// the expiry of objects, the limits of readers and the table in docs/architecture.md are made from this table. A new folder is one entry.

/** The identities that have keys of the store. `uploads` signs the URLs that runners write to, `links` those that clients read from. */
export const IDENTITIES = ['uploads', 'links', 'operator', 'gateway'] as const
export type Identity = (typeof IDENTITIES)[number]

/** `copy`: objects may be written as copies of others. */
type Right = 'get' | 'put' | 'copy' | 'delete'

/** One type of object. */
interface StoredObject {
  /** Builders of its keys. */
  keys: readonly ((...parts: never[]) => string)[]
  /** Reads the parts of a listed key; undefined for other text. `never`: no program needs the parts. */
  parse: ((key: string) => unknown) | 'never'
  /** Readers refuse larger objects, which Tintype did not write. Infinity: the object is not read into memory. */
  maxBytes: number
}

export interface Folder {
  /** By the name of the type in metrics and logs. */
  objects: Readonly<Record<string, StoredObject>>
  /** Operator and gateway may also list the whole bucket. Signers may do nothing by default. */
  rights: Readonly<Record<'operator' | 'gateway', readonly Right[]> & Partial<Record<Identity, readonly Right[]>>>
  deletion: {
    /** Days after which the store deletes an object. `files`, `records`: a day after the retention of files, and with that of records. */
    storeDays: number | 'files' | 'records' | 'never'
    /** How the operator finds what has expired: see `EXPIRE` in operator/src/controllers/retention/expire.ts. */
    expiry: 'files' | 'records' | 'marks' | 'schedules' | 'none'
    /** The name of an account follows these prefixes. What is below them is deleted with the account. */
    accounts: readonly string[]
  }
}

const KIBIBYTE = 1024
const MEBIBYTE = 1024 * KIBIBYTE

export const FOLDERS = {
  users: {
    objects: { file: { keys: [keys.objectKey], parse: keys.parseObjectKey, maxBytes: Number.POSITIVE_INFINITY } },
    rights: { operator: ['get', 'put', 'copy', 'delete'], gateway: ['get', 'delete'], uploads: ['put'], links: ['get'] },
    deletion: { storeDays: 'files', expiry: 'files', accounts: ['users/'] },
  },
  records: {
    objects: {
      // An object of the Kubernetes API has at most 1.5 MiB.
      record: { keys: [keys.recordKey], parse: keys.parseRecordKey, maxBytes: 2 * MEBIBYTE },
      // A segment has 4 MiB, or one record.
      segment: { keys: [keys.segmentKey], parse: keys.parseSegmentKey, maxBytes: 8 * MEBIBYTE },
      tombstone: { keys: [keys.tombstoneKey], parse: keys.parseTombstoneKey, maxBytes: MAX_MARKER_BYTES },
    },
    rights: { operator: ['get', 'put', 'delete'], gateway: ['get', 'put'] },
    deletion: { storeDays: 'never', expiry: 'records', accounts: ['records/'] },
  },
  rewrites: {
    objects: { rewrite: { keys: [keys.rewriteKey], parse: keys.parseRewriteKey, maxBytes: 0 } },
    rights: { operator: ['put', 'delete'], gateway: ['put'] },
    // Each rewrite deletes its mark.
    deletion: { storeDays: 'never', expiry: 'none', accounts: ['rewrites/'] },
  },
  batches: {
    // Up to 100 ids.
    objects: { batch: { keys: [keys.batchKey], parse: 'never', maxBytes: 16 * KIBIBYTE } },
    rights: { operator: ['delete'], gateway: ['get', 'put'] },
    deletion: { storeDays: 'records', expiry: 'none', accounts: ['batches/'] },
  },
  idempotency: {
    objects: {
      // A plan of up to 100 ids, and the response.
      idempotency: { keys: [keys.idempotencyKey, keys.sharedCaptureKey, keys.signInKey], parse: 'never', maxBytes: 4 * MEBIBYTE },
    },
    rights: { operator: ['delete'], gateway: ['get', 'put', 'delete'] },
    // They are valid for 24 hours.
    deletion: { storeDays: 2, expiry: 'none', accounts: ['idempotency/'] },
  },
  options: {
    objects: { options: { keys: [keys.optionsKey], parse: 'never', maxBytes: MAX_SEALED_BYTES } },
    rights: { operator: ['get', 'delete'], gateway: ['put'] },
    // A capture that has not started by then never will.
    deletion: { storeDays: 2, expiry: 'none', accounts: ['options/'] },
  },
  cache: {
    // A result with all facts about the page.
    objects: { cache: { keys: [keys.cacheEntryKey], parse: 'never', maxBytes: MEBIBYTE } },
    rights: { operator: ['get', 'put', 'delete'], gateway: ['get'] },
    // Pictures older than 30 days are not reused.
    deletion: { storeDays: 31, expiry: 'none', accounts: ['cache/'] },
  },
  events: {
    // A record with its lists of warnings and artifacts.
    objects: { event: { keys: [keys.eventKey], parse: 'never', maxBytes: MEBIBYTE } },
    rights: { operator: ['get', 'put'], gateway: ['get'] },
    // Retries end within minutes, redelivery is possible for a week. The key does not have the account.
    deletion: { storeDays: 7, expiry: 'none', accounts: [] },
  },
  deliveries: {
    // 500 lines.
    objects: { delivery_log: { keys: [keys.logKey], parse: keys.parseLogKey, maxBytes: 8 * MEBIBYTE } },
    rights: { operator: ['get', 'put', 'delete'], gateway: ['get'] },
    // For busy endpoints the operator keeps fewer.
    deletion: { storeDays: 7, expiry: 'none', accounts: ['deliveries/'] },
  },
  undelivered: {
    objects: { undelivered: { keys: [keys.openDeliveryKey, keys.missedKey], parse: keys.parseOpenKey, maxBytes: 8 * KIBIBYTE } },
    rights: { operator: ['get', 'put', 'delete'], gateway: [] },
    // Missed deliveries can be redelivered so long. Open ones end within hours.
    deletion: { storeDays: 30, expiry: 'none', accounts: ['undelivered/open/', 'undelivered/missed/'] },
  },
  expiries: {
    objects: { expiry: { keys: [keys.expiryKey], parse: keys.parseExpiryKey, maxBytes: MAX_MARKER_BYTES } },
    rights: { operator: ['get', 'put', 'delete'], gateway: [] },
    // A mark without files is removed when it is due.
    deletion: { storeDays: 'never', expiry: 'marks', accounts: [] },
  },
  gone: {
    objects: { gone: { keys: [keys.deletedAccountKey], parse: keys.parseDeletedAccountKey, maxBytes: MAX_MARKER_BYTES } },
    rights: { operator: ['get', 'put', 'delete'], gateway: [] },
    // The mark is removed when the deletion finds nothing more.
    deletion: { storeDays: 'never', expiry: 'none', accounts: [] },
  },
  runs: {
    // Times and the outcome of one run.
    objects: { run: { keys: [keys.runKey], parse: keys.parseRunKey, maxBytes: 4 * KIBIBYTE } },
    rights: { operator: ['put', 'delete'], gateway: ['get'] },
    deletion: { storeDays: 'records', expiry: 'none', accounts: ['runs/'] },
  },
  schedules: {
    objects: { schedule_options: { keys: [keys.scheduleOptionsKey], parse: 'never', maxBytes: MAX_SEALED_BYTES } },
    rights: { operator: ['get', 'delete'], gateway: ['put'] },
    deletion: { storeDays: 'never', expiry: 'schedules', accounts: ['schedules/'] },
  },
  baselines: {
    objects: { baseline: { keys: [keys.baselineKey], parse: 'never', maxBytes: Number.POSITIVE_INFINITY } },
    rights: { operator: ['get', 'put', 'copy', 'delete'], gateway: [] },
    deletion: { storeDays: 'never', expiry: 'schedules', accounts: ['baselines/'] },
  },
  names: {
    // Id and digest of a record.
    objects: { name: { keys: [keys.namedRecordKey], parse: 'never', maxBytes: 4 * KIBIBYTE } },
    rights: { operator: ['get', 'put', 'delete'], gateway: [] },
    deletion: { storeDays: 'records', expiry: 'none', accounts: ['names/'] },
  },
} as const satisfies Readonly<Record<string, Folder>>

export type FolderName = keyof typeof FOLDERS

/** All folders with their names. */
export const folders: readonly (Folder & { name: FolderName })[] = Object.entries(FOLDERS).map(([name, folder]) => ({
  ...folder,
  name: name as FolderName,
}))

type Intersection<T> = (T extends T ? (value: T) => void : never) extends (value: infer I) => void ? I : never
type Objects = Intersection<(typeof FOLDERS)[FolderName]['objects']>
/** Names of the types of objects. */
export type StoredKind = keyof Objects

/** Types whose keys are listed. */
export type ListedKind = { [K in StoredKind]: Objects[K]['parse'] extends 'never' ? never : K }[StoredKind]
/** What the key of an object says. */
export type PartsOf<K extends ListedKind> = Objects[K]['parse'] extends (key: string) => infer Parts ? NonNullable<Parts> : never

/** All types of objects, by their names. */
export const OBJECTS: Objects = Object.assign({}, ...folders.map(({ objects }) => objects))
/** Names of the types of objects. */
export const STORED_KINDS = Object.keys(OBJECTS) as StoredKind[]

/** Prefix of all keys in a folder. */
export const prefixOf = (folder: FolderName): string => `${folder}/`

// What the identities may do in the bucket, as S3 policies. URLs that leave the programs are signed by separate identities, so that a URL grants no
// other permissions: docs/adr/0025-separate-identities-sign-urls.md.

export type Condition = Record<string, Record<string, string>>

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

/** True for the identities of programs, which list keys in the whole bucket. */
export const mayList = (identity: Identity): boolean => identity === 'operator' || identity === 'gateway'

/** Names of objects in folders, as policies have them. */
export const inFolders = (bucket: string, names: readonly string[]): string[] => names.map((name) => `arn:aws:s3:::${bucket}/${name}/*`)

/** Returns the policy of an identity. Stores without a condition for copies need only its statements with `Allow`. */
export function policyOf(identity: Identity, bucket: string): Policy {
  const where = (isWanted: (rights: readonly Right[]) => boolean): string[] =>
    inFolders(
      bucket,
      folders.filter(({ rights }) => isWanted(rights[identity] ?? [])).map(({ name }) => name),
    )
  const noCopies = where((rights) => rights.includes('put') && !rights.includes('copy'))
  const statements: Statement[] = [
    { Effect: 'Allow', Action: ['s3:ListBucket'], Resource: mayList(identity) ? [`arn:aws:s3:::${bucket}`] : [] },
    { Effect: 'Allow', Action: ['s3:GetObject'], Resource: where((rights) => rights.includes('get')) },
    { Effect: 'Allow', Action: ['s3:PutObject'], Resource: where((rights) => rights.includes('put')) },
    { Effect: 'Deny', Action: ['s3:PutObject'], Resource: noCopies, Condition: IS_COPY },
    { Effect: 'Allow', Action: ['s3:DeleteObject'], Resource: where((rights) => rights.includes('delete')) },
  ]
  return { Version: '2012-10-17', Statement: statements.filter(({ Resource }) => Resource.length > 0) }
}
