import path from 'node:path'

/** Files of a stage that run together. */
export interface Part {
  files: string[]
  /** Number of concurrent files. */
  jobs: number
  /** The part starts when the tools are built. */
  needsTools?: true
  /** Files that leave the state of their process alone share a process. */
  hasGroups?: true
  /** tap measures what its files cover. */
  hasCoverage?: true
}

/** A stage runs `jobs` files concurrently. Files that match a pattern of `alone` run one by one after the others. */
export interface Sharing {
  jobs: number
  hasGroups?: true
  alone?: readonly string[]
}

/** @throws when a pattern of `alone` matches no file, because a moved file would run together with others */
export function planParts(files: readonly string[], { jobs, hasGroups, alone = [] }: Sharing): Part[] {
  const idle = alone.filter((pattern) => !files.some((file) => path.matchesGlob(file, pattern)))
  if (idle.length > 0) throw new Error(`no test file matches ${idle.join(', ')}`)
  const isAlone = (file: string) => alone.some((pattern) => path.matchesGlob(file, pattern))
  const parts = [
    { files: files.filter((file) => !isAlone(file)), jobs, ...(hasGroups ? { hasGroups } : {}) },
    { files: files.filter(isAlone), jobs: 1 },
  ]
  return parts.filter((part) => part.files.length > 0)
}

/** Keeps the selected files of the parts. */
export const keepSelected = (parts: readonly Part[], isSelected: (file: string) => boolean): Part[] =>
  parts.map((part) => ({ ...part, files: part.files.filter(isSelected) })).filter(({ files }) => files.length > 0)

/** Moves the files that need tools into parts of their own, after the others. A file that waited for a build would use up its time limit. */
export function moveToolUsers(parts: readonly Part[], usesTool: (file: string) => boolean): Part[] {
  const users = keepSelected(parts, usesTool).map((part): Part => ({ ...part, needsTools: true }))
  return [...keepSelected(parts, (file) => !usesTool(file)), ...users]
}

/** Moves the files that measure coverage into a part of their own, before the others. */
export function separateCoverage(parts: readonly Part[], covers: (file: string) => boolean): Part[] {
  const covering = keepSelected(parts, covers).map((part): Part => ({ ...part, hasCoverage: true }))
  return [...covering, ...keepSelected(parts, (file) => !covers(file))]
}
