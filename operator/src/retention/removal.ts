import { dayOf, recordKey, rewriteKey, tombstoneKey } from '@tintype/crds/storage-keys'
import type { Storage } from '../storage/storage.ts'

type Bucket = Pick<Storage, 'exists' | 'write' | 'remove'>

/** Takes the text of a record away if its owner has deleted it; says whether it was. Lists are cleaned by the next rewrite. */
export async function discardRecord(account: string, id: string, storage: Bucket): Promise<boolean> {
  if (!(await storage.exists(tombstoneKey(account, id)))) return false
  await storage.write(rewriteKey(account, dayOf(id), id), '')
  await storage.remove([recordKey(account, id)])
  return true
}

/**
 * What the end of a finished Screenshot in the Kubernetes API means: `archived` keeps its files. Judged by the bucket alone, so that every
 * leader comes to the same end, also after a crash between the archive's write and its deletion. Of a deletion by hand in just that gap
 * nothing is known: the record stays, archived.
 */
export async function judgeRemoval(account: string, id: string, storage: Bucket): Promise<'archived' | 'deleted'> {
  if (!(await storage.exists(recordKey(account, id)))) {
    await storage.write(tombstoneKey(account, id), '')
    return 'deleted'
  }
  return (await discardRecord(account, id, storage)) ? 'deleted' : 'archived'
}
