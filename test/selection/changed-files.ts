/** Reads from git which files changed. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { CommandError, run } from '../cluster/host/exec.ts'
import { repository } from '../cluster/host/state.ts'
import type { ChangedFile } from './select.ts'

/** A base that git cannot compare with. */
export class BaseError extends Error {}

const git = async (...args: string[]): Promise<string> => (await run('git', args, { directory: repository })).trim()
const listOf = (output: string): string[] => output.split('\0').filter((file) => file !== '')

/** The tracked files, and the new ones that git does not ignore. */
export async function listFiles(): Promise<string[]> {
  const files = listOf(await git('ls-files', '--cached', '--others', '--exclude-standard', '-z'))
  return [...new Set(files)].filter((file) => existsSync(path.join(repository, file)))
}

/**
 * The files that differ from the merge base with `base`: committed, uncommitted and untracked. Without a base it is `main`, or the commit before HEAD
 * when HEAD is `main`.
 * @throws BaseError when git does not know the base
 */
export async function findChanges(base?: string): Promise<{ changed: ChangedFile[]; commit: string }> {
  const commit = await findMergeBase(base)
  const differing = listOf(await git('diff', '--name-only', '--no-renames', '-z', commit))
  const untracked = listOf(await git('ls-files', '--others', '--exclude-standard', '-z'))
  const files = [...new Set([...differing, ...untracked])].sort()
  return { changed: files.map((file) => ({ file, isDeleted: !existsSync(path.join(repository, file)) })), commit }
}

async function findMergeBase(base: string | undefined): Promise<string> {
  try {
    if (base !== undefined) return await git('merge-base', base, 'HEAD')
    const [head, main] = [await git('rev-parse', 'HEAD'), await git('rev-parse', '--verify', 'main')]
    return head === main ? await git('rev-parse', 'HEAD~1') : await git('merge-base', 'main', 'HEAD')
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw new BaseError(`git cannot compare with ${base ?? 'main'}. Name a branch or a commit: npm test -- --changed BASE`)
  }
}
