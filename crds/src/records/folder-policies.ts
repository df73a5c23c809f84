import { folders, type Identity, type Right } from './folders.ts'

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
