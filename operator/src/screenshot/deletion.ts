/**
 * What a deleted Screenshot leaves behind: a capture that still runs, and files. There is no finalizer, so this is done from memory; what
 * a crash leaves is ended by the files' retention. One that was archived leaves its files to its record.
 */
import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import type { Requeue } from '../controller/controller.ts'
import { evaluateDeletion } from '../retention/deletion.ts'
import type { MarkChecks } from '../retention/marks.ts'
import type { RunnerClient } from '../runner/runner-client.ts'
import { addressOf, type Runners } from '../runner/runners.ts'
import type { Storage } from '../storage/storage.ts'
import { filesOf } from './order.ts'
import { attemptsOf, uploadExpiryOf } from './status.ts'

export interface DeletionContext extends MarkChecks {
  namespace: string
  runners: Runners
  client: Pick<RunnerClient, 'cancel'>
  storage: Pick<Storage, 'removePrefix' | 'exists' | 'readText' | 'write' | 'remove'>
  now: () => Date
}

/** Past the expiry of an upload address, for clocks that differ. */
const MARGIN_MILLISECONDS = 5_000

/** Deleted Screenshots whose files are not surely gone, by uid. */
export class Deletions {
  readonly #deleted = new Map<string, Screenshot>()

  /** Remembers a deleted Screenshot; returns its key. */
  add(shot: Screenshot): string {
    this.#deleted.set(shot.metadata.uid, shot)
    return shot.metadata.uid
  }

  /** Marks it as deleted, cancels and removes now, and removes once more when nothing can be uploaded any more. */
  async reconcile(uid: string, context: DeletionContext): Promise<Requeue> {
    const shot = this.#deleted.get(uid)
    if (!shot) return {}
    const isArchived = (await evaluateDeletion(accountOf(shot), screenshotIdOf(shot.metadata), context)) === 'archived'
    if (isArchived || attemptsOf(shot) === 0) {
      this.#deleted.delete(uid)
      return {}
    }
    const isOpen = shot.status?.phase === 'Running'
    if (isOpen) await cancel(shot, context)
    await context.storage.removePrefix(filesOf(shot))
    const leftMilliseconds = uploadExpiryOf(shot).getTime() + MARGIN_MILLISECONDS - context.now().getTime()
    if (leftMilliseconds > 0 && !isFinished(shot)) return { requeueAfterMilliseconds: leftMilliseconds }
    this.#deleted.delete(uid)
    return {}
  }
}

async function cancel({ status, metadata }: Screenshot, { client, runners, namespace, now }: DeletionContext): Promise<void> {
  const { pod, uid } = status?.runner ?? {}
  const runner = pod === undefined ? undefined : runners.find(`${namespace}/${pod}`, now().getTime())
  if (runner && runner.uid === uid) await client.cancel(addressOf(runner), metadata.uid)
}
