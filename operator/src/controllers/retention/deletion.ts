import { recordKey } from '@tintype/crds/records/storage-keys'
import { isDeletionConfirmed, type MarkChecks, requestRewrite, writeTombstone } from '@tintype/crds/storage/archive'
import type { Storage } from '../../storage/storage.ts'

/** Dependencies for handling the end of a record. */
export interface DeletionDeps extends MarkChecks {
  storage: Pick<Storage, 'exists' | 'readText' | 'write' | 'remove'>
}

/** Deletes the text of a record if its owner deleted it. Returns whether that was the case. The next rewrite removes it from segments. */
export async function discardRecord(account: string, id: string, deps: DeletionDeps): Promise<boolean> {
  if (!(await isDeletionConfirmed(account, id, deps))) return false
  await requestRewrite(account, id, deps)
  await deps.storage.remove([recordKey(account, id)])
  return true
}

/**
 * Decides what the deletion of a finished Screenshot in the Kubernetes API means: `archived` keeps its files. It checks only the bucket, so
 * every leader decides the same, also after a crash between archiving and deletion. A manual deletion in this gap cannot be detected: the
 * record stays archived. Any object at the record's key keeps the files, because the record may have been overwritten.
 */
export async function evaluateDeletion(account: string, id: string, deps: DeletionDeps): Promise<'archived' | 'deleted'> {
  if (!(await deps.storage.exists(recordKey(account, id)))) {
    await writeTombstone(account, id, deps)
    return 'deleted'
  }
  return (await discardRecord(account, id, deps)) ? 'deleted' : 'archived'
}
