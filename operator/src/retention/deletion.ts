import { dayOf, recordKey, rewriteKey } from '@tintype/crds/records/storage-keys'
import type { Storage } from '../storage/storage.ts'
import { isDeletionConfirmed, type MarkChecks, writeTombstone } from './marks.ts'

/** What the end of a record is judged with. */
export interface DeletionDeps extends MarkChecks {
  storage: Pick<Storage, 'exists' | 'readText' | 'write' | 'remove'>
}

/** Takes the text of a record away if its owner has deleted it; says whether it was. Lists are cleaned by the next rewrite. */
export async function discardRecord(account: string, id: string, deps: DeletionDeps): Promise<boolean> {
  if (!(await isDeletionConfirmed(account, id, deps))) return false
  await deps.storage.write(rewriteKey(account, dayOf(id), id), '')
  await deps.storage.remove([recordKey(account, id)])
  return true
}

/**
 * What the end of a finished Screenshot in the Kubernetes API means: `archived` keeps its files. Judged by the bucket alone, so that every
 * leader comes to the same end, also after a crash between the archive's write and its deletion. Of a deletion by hand in just that gap
 * nothing is known: the record stays, archived. Whatever lies in the record's place keeps the files: it may have been overwritten.
 */
export async function evaluateDeletion(account: string, id: string, deps: DeletionDeps): Promise<'archived' | 'deleted'> {
  if (!(await deps.storage.exists(recordKey(account, id)))) {
    await writeTombstone(account, id, deps)
    return 'deleted'
  }
  return (await discardRecord(account, id, deps)) ? 'deleted' : 'archived'
}
