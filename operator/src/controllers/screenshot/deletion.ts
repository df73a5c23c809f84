/**
 * This controller observes deleted Screenshots. It cancels a capture that is still running, deletes the files, and writes the mark of the
 * deletion to the bucket. It requeues until the upload URL has expired, because a file may arrive until then. There is no finalizer, so
 * the deleted objects are only in memory: files that remain after a crash are deleted by their retention. The files of an archived
 * Screenshot belong to its record and stay.
 */

import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import type { MarkChecks } from '@tintype/crds/storage/archive'
import type { Controller, Requeue } from '../../controller-runtime/controller.ts'
import type { RunnerClient } from '../../runner/runner-client.ts'
import type { Runners } from '../../runner/runners.ts'
import { createController } from '../../runtime/deps.ts'
import type { CaptureDeps } from '../../scheduling/term-state.ts'
import type { Storage } from '../../storage/storage.ts'
import { evaluateDeletion } from '../retention/archive.ts'
import { cancelAtRunner, filesOf } from './dispatch.ts'
import { attemptsOf, uploadExpiryOf } from './status.ts'

export interface DeletionContext extends MarkChecks {
  runners: Pick<Runners, 'podOf'>
  client: Pick<RunnerClient, 'cancel'>
  storage: Pick<Storage, 'removePrefix' | 'exists' | 'readText' | 'write' | 'remove'>
  now: () => Date
}

/** Added to the expiry of an upload URL, for clock differences. */
const MARGIN_MILLISECONDS = 5_000

const WORKERS = 4

export interface DeletionController {
  controller: Controller
  enqueueDeleted: (shot: Screenshot) => void
}

/** Creates the controller of one term. Call `start` on it. */
export function createDeletionController(deps: CaptureDeps): DeletionController {
  const context = { ...deps, ring: deps.keys.downloadKeys }
  const deletions = new Deletions()
  const controller = createController('screenshot-deletion', { workers: WORKERS }, (uid) => deletions.reconcile(uid, context), deps)
  return { controller, enqueueDeleted: (shot) => controller.enqueue(deletions.add(shot)) }
}

/** Deleted Screenshots whose files may still exist, by uid. */
export class Deletions {
  readonly #deleted = new Map<string, Screenshot>()

  /** Adds a deleted Screenshot. Returns its key. */
  add(shot: Screenshot): string {
    this.#deleted.set(shot.metadata.uid, shot)
    return shot.metadata.uid
  }

  /** Marks the record as deleted, cancels the capture and deletes the files now, and again when no upload is possible any more. */
  async reconcile(uid: string, context: DeletionContext): Promise<Requeue> {
    const shot = this.#deleted.get(uid)
    if (!shot) return {}
    const isArchived = (await evaluateDeletion(accountOf(shot), screenshotIdOf(shot.metadata), context)) === 'archived'
    if (isArchived || attemptsOf(shot) === 0) {
      this.#deleted.delete(uid)
      return {}
    }
    const isOpen = shot.status?.phase === 'Running'
    if (isOpen) await cancelAtRunner(shot, context)
    await context.storage.removePrefix(filesOf(shot))
    const leftMilliseconds = uploadExpiryOf(shot).getTime() + MARGIN_MILLISECONDS - context.now().getTime()
    if (leftMilliseconds > 0 && !isFinished(shot)) return { requeueAfterMilliseconds: leftMilliseconds }
    this.#deleted.delete(uid)
    return {}
  }
}
